package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier

import io.sash.spark.{SashConf, SashVersionFunction}
import io.sash.spark.functions.{ResolveMonoids, SashFunctions, SlidingAgg}
import io.sash.spark.kinds.{CheckWindowKinds, ResolveWindowKinds, WindowKindFunctions}

/** All that is called by name: aggregates, sliding_agg, and the kinds of windows. */
private[spark] object FunctionsFeature extends Feature {
  private val guard = new Guard(Standing.Functions)

  override def inject(extensions: SparkSessionExtensions): Unit = {
    register(extensions)
    // windows that SQL's frames have no words for
    extensions.injectResolutionRule(guard.rule(_ => ResolveWindowKinds))
    // the lambdas of monoid_agg
    extensions.injectResolutionRule(guard.rule(_ => ResolveMonoids))
    extensions.injectCheckRule(
      guard.check(s => CheckWindowKinds(() => whyOff(SashConf.enabled(s.sessionState.conf))))
    )
  }

  private def register(extensions: SparkSessionExtensions): Unit = {
    // sliding_agg(col, 'monoid') OVER (…)
    extensions.injectFunction(
      (FunctionIdentifier(SlidingAgg.Name), SlidingAgg.Info, SlidingAgg.build)
    )
    // geometric_mean(x), arg_max(arg, val) and all others of docs/functions.md
    (SashFunctions.All ++ WindowKindFunctions.All).foreach { f =>
      extensions.injectFunction((FunctionIdentifier(f.name), f.info, f.build))
    }
    // sash_version(), by which a client can tell that Sash is active
    extensions.injectFunction(
      (
        FunctionIdentifier(SashVersionFunction.Name),
        SashVersionFunction.Info,
        SashVersionFunction.build
      )
    )
  }

  /** Why a window that only Sash has cannot be answered. */
  private def whyOff(enabled: Boolean): Option[String] =
    if (!enabled) Some(ResolveWindowKinds.Off)
    else Standing.reason(Standing.Windows).map(why => s"only Sash has it, and $why")
}
