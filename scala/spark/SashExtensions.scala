package io.sash.spark

import org.apache.spark.SPARK_VERSION
import org.apache.spark.internal.Logging
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, Literal}

import io.sash.spark.functions.{ResolveMonoids, SashFunctions, SlidingAgg}
import io.sash.spark.hops.{BatchHops, HopStrategy, ManyHops, ResolveManyHops, SlimHops}
import io.sash.spark.kinds.{CheckWindowKinds, ResolveWindowKinds, WindowKindFunctions}
import io.sash.spark.ordering.{OneSort, OneSortOnce}
import io.sash.spark.plan.{MovingAggregates, SlidingWindowStrategy}
import io.sash.spark.streams.{
  PruneStreamColumns,
  SlimStreamHops,
  StatefulOperators,
  StreamingWrite,
  StreamWindows
}

/**
 * What Sash adds to a session. It is on wherever the jar is on the class path
 * (META-INF/services), or by `spark.sql.extensions=io.sash.spark.SashExtensions`; both at once
 * do no harm, since a second strategy finds nothing left to plan.
 */
final class SashExtensions extends SparkSessionExtensionsProvider with Logging {
  override def apply(extensions: SparkSessionExtensions): Unit =
    if (!SparkVersions.isKnown(SPARK_VERSION)) {
      logWarning(
        s"Sash ${SashVersion.Version} does not know Spark $SPARK_VERSION and leaves it " +
          s"alone; it knows ${SparkVersions.Known.mkString(", ")}"
      )
    } else {
      // so that a wrong value is refused when it is set, not when a query is planned
      SashConf.register()
      // moving and shrinking frames of OVER
      extensions.injectPlannerStrategy(SlidingWindowStrategy)
      // windows that SQL's frames have no words for
      extensions.injectResolutionRule(_ => ResolveWindowKinds)
      extensions.injectCheckRule(s =>
        CheckWindowKinds(() => SashConf.enabled(s.sessionState.conf))
      )
      // aggregates of moving frames that Spark's analyzer refuses
      extensions.injectResolutionRule(MovingAggregates(_))
      // aggregates over window(time, size, slide)
      extensions.injectHintResolutionRule(new ManyHops.Find(_))
      extensions.injectResolutionRule(_ => ResolveManyHops)
      extensions.injectPlanNormalizationRule(new BatchHops(_))
      extensions.injectOptimizerRule(_ => SlimHops)
      extensions.injectPlannerStrategy(new HopStrategy(_))
      // OVER on a stream
      extensions.injectPostHocResolutionRule(_ => StreamWindows)
      extensions.injectHintResolutionRule(_ => StreamingWrite)
      extensions.injectOptimizerRule(_ => PruneStreamColumns)
      extensions.injectOptimizerRule(_ => SlimStreamHops)
      extensions.injectColumnar(_ => StatefulOperators)
      // one sort where the rows below them are sorted anyway
      extensions.injectQueryStagePrepRule(_ => OneSort)
      extensions.injectColumnar(_ => OneSortOnce)
      // sliding_agg(col, 'monoid') OVER (…)
      extensions.injectFunction(
        (FunctionIdentifier(SlidingAgg.Name), SlidingAgg.Info, SlidingAgg.build)
      )
      // geometric_mean(x), arg_max(arg, val) and all others of docs/functions.md
      (SashFunctions.All ++ WindowKindFunctions.All).foreach { f =>
        extensions.injectFunction((FunctionIdentifier(f.name), f.info, f.build))
      }
      // the lambdas of monoid_agg
      extensions.injectResolutionRule(_ => ResolveMonoids)
      // sash_version(), by which a client can tell that Sash is active
      extensions.injectFunction(
        (FunctionIdentifier(SashVersion.Name), SashVersion.Info, SashVersion.build)
      )
    }
}

private[spark] object SashVersion {
  val Name = "sash_version"
  val Version: String = Option(getClass.getPackage.getImplementationVersion).getOrElse("dev")

  val Info = new ExpressionInfo(
    getClass.getName.stripSuffix("$"),
    null,
    Name,
    "_FUNC_() - Returns the version of Sash that is active in the session.",
    "",
    "",
    "",
    "misc_funcs",
    "0.1.0",
    "",
    "scala_udf"
  )

  def build(arguments: Seq[Expression]): Expression =
    if (arguments.isEmpty) Literal(Version)
    else throw SashErrors.wrongArguments(Name, "0", arguments.length)
}
