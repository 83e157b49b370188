package io.sash.spark

import java.lang.{Boolean => JBoolean}

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedExpression}
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Distribution}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreId}
import org.apache.spark.sql.streaming.StatefulProcessorHandle

import io.sash.spark.features.Standing.{Hops, Ordering, Streams, Windows}
import io.sash.spark.links.{ClassFacts, ReflectiveLink}

/** The minor versions that the jar is tested with. */
private[spark] object KnownVersions {
  val All: Seq[String] = Seq("4.0", "4.1", "4.2", "4.3")

  def contains(version: String): Boolean =
    All.exists(v => version == v || version.startsWith(v + "."))
}

/**
 * All that differs between the versions of Spark that one jar serves. The jar is compiled
 * against 4.2; what another version spells differently is called by reflection here.
 */
private[spark] object SparkVersions {

  /** ClusteredDistribution(clustering) with all defaults; 4.3 added a parameter. */
  def clusteredDistribution(clustering: Seq[Expression]): Distribution =
    withDefaults(classOf[ClusteredDistribution], clustering).asInstanceOf[Distribution]

  /** Puts common table expressions where they are read; 4.3 added a parameter. */
  def inlineCommonTables: Rule[LogicalPlan] =
    withDefaults(classOf[InlineCTE], JBoolean.FALSE).asInstanceOf[Rule[LogicalPlan]]

  /** Called TimeAdd up to 4.0. */
  def timestampAddInterval(start: Expression, interval: Expression, zone: String): Expression =
    Seq("TimestampAddInterval", "TimeAdd").flatMap { name =>
      try {
        val c = Class.forName(s"org.apache.spark.sql.catalyst.expressions.$name")
        Some(
          c.getConstructors
            .maxBy(_.getParameterCount)
            .newInstance(start, interval, Some(zone))
            .asInstanceOf[Expression]
        )
      } catch { case _: ClassNotFoundException => None }
    }.head

  /** The window with other expressions; later versions have fields that are kept as they are. */
  def withExpressions(window: Window, expressions: Seq[NamedExpression]): Window = {
    val fields = window.productIterator.toArray.asInstanceOf[Array[Any]]
    fields(0) = expressions
    val constructor = classOf[Window].getConstructors.maxBy(_.getParameterCount)
    val copy = constructor
      .newInstance(fields.map(_.asInstanceOf[AnyRef]): _*)
      .asInstanceOf[Window]
    copy.copyTagsFrom(window)
    copy
  }

  /** Calls the constructor of a case class with `first` and the defaults of all the rest. */
  private def withDefaults(c: Class[_], first: AnyRef): Any = {
    val constructor = c.getConstructors.maxBy(_.getParameterCount)
    val companion = Class.forName(c.getName + "$").getField("MODULE$").get(null)
    val rest = (2 to constructor.getParameterCount).map { i =>
      companion.getClass.getMethod(s"$$lessinit$$greater$$default$$$i").invoke(companion)
    }
    constructor.newInstance(first +: rest: _*)
  }
}

/** The same for functions, which alone need it. */
private[spark] object FunctionVersions {

  /** The same call of an internal function; some versions have an Option for IGNORE NULLS. */
  def internalFunction(call: UnresolvedFunction, name: String): UnresolvedFunction = {
    val fields = call.productIterator.toArray.asInstanceOf[Array[Any]]
    fields(0) = Seq(name)
    fields(fields.length - 1) = true
    val constructor = classOf[UnresolvedFunction].getConstructors.maxBy(_.getParameterCount)
    val copy = CurrentOrigin.withOrigin(call.origin) {
      constructor
        .newInstance(fields.map(_.asInstanceOf[AnyRef]): _*)
        .asInstanceOf[UnresolvedFunction]
    }
    copy.copyTagsFrom(call)
    copy
  }

  /** A name as a session's registry spells those of Spark's own functions: in one part, or in three. */
  def builtinName(registry: FunctionRegistry, name: String): FunctionIdentifier =
    registry
      .listFunction()
      .find(_.funcName == "sum")
      .fold(FunctionIdentifier(name))(sparks =>
        FunctionIdentifier(name, sparks.database, sparks.catalog)
      )
}

/** The same for streams. */
private[spark] object StreamVersions {

  /** Whether a query is to run in real-time mode, which has come with 4.1. */
  def isRealTime(statement: WriteToStreamStatement): Boolean =
    statement.productElementNames.zip(statement.productIterator).exists { case (name, value) =>
      name == "trigger" && value.getClass.getSimpleName == "RealTimeTrigger"
    }

  /** Whether a plan reads a stream in real-time mode. */
  def isRealTime(plan: SparkPlan): Boolean =
    plan.exists(_.getClass.getSimpleName == "RealTimeStreamScanExec")

  /** The state store of transformWithState's processor, which the handle has and does not show. */
  def storeOf(handle: StatefulProcessorHandle): Option[StateStoreId] =
    handle.getClass.getDeclaredFields.find(_.getType == classOf[StateStore]).map { field =>
      field.setAccessible(true)
      field.get(handle).asInstanceOf[StateStore].id
    }
}

/** What is reached by reflection above, and in rooms that go by the names of fields. */
private[spark] object ReflectiveLinks {
  private val Catalyst = "org/apache/spark/sql/catalyst"
  private val Execution = "org/apache/spark/sql/execution"
  private val Streaming = s"$Execution/streaming"

  val All: Seq[ReflectiveLink] = Seq(
    withDefaults(
      s"$Catalyst/plans/physical/ClusteredDistribution",
      "Lscala/collection/immutable/Seq;",
      Windows,
      Ordering,
      Hops
    ),
    withDefaults(s"$Catalyst/optimizer/InlineCTE", "Z", Streams),
    ReflectiveLink(Seq(Windows, Streams), "an expression that adds an interval to a time") {
      classes =>
        Seq("TimestampAddInterval", "TimeAdd")
          .flatMap(name => classes.get(s"$Catalyst/expressions/$name"))
          .headOption
          .flatMap(ReflectiveLink.longestConstructor)
          .contains(Seq(Expression, Expression, "Lscala/Option;"))
    },
    ReflectiveLink(Seq(Windows), "the constructor of Window that Sash copies it by") { classes =>
      classes
        .get(s"$Catalyst/plans/logical/Window")
        .flatMap(ReflectiveLink.longestConstructor)
        .exists(_.headOption.contains("Lscala/collection/immutable/Seq;"))
    },
    fields(
      Seq("", "operators/stateful/transformwithstate/").map(p =>
        s"$Streaming/${p}TransformWithStateExec"
      ),
      "eventTimeWatermarkForLateEvents",
      "stateInfo"
    ),
    fields(
      Seq("", "operators/stateful/").map(p => s"$Streaming/${p}StatefulOperatorStateInfo"),
      "checkpointLocation",
      "operatorId"
    ),
    ReflectiveLink(
      Seq(Hops),
      "the aggregates' field requiredChildDistributionExpressions"
    ) { classes =>
      val half = s"$Execution/aggregate/HashAggregateExec"
      classes.get(half).exists(hasField(_, "requiredChildDistributionExpressions"))
    }
  )

  private def Expression = s"L$Catalyst/expressions/Expression;"

  private def withDefaults(name: String, first: String, features: String*): ReflectiveLink =
    ReflectiveLink(features, s"the constructor of ${name.split('/').last} with defaults") {
      classes =>
        val constructor = classes.get(name).flatMap(ReflectiveLink.longestConstructor)
        val defaults = classes
          .get(name + "$")
          .fold(Set.empty[String])(_.methodKeys.map(_.takeWhile(_ != '(')).toSet)
        constructor.exists { types =>
          types.headOption.contains(first) && (2 to types.length).forall(i =>
            defaults(s"$$lessinit$$greater$$default$$$i")
          )
        }
    }

  /** The first class of these that is there has fields of these names. */
  private def fields(oneOf: Seq[String], names: String*): ReflectiveLink =
    ReflectiveLink(
      Seq(Streams),
      s"${names.mkString(" or ")} of ${oneOf.head.split('/').last}"
    ) { classes =>
      oneOf.flatMap(classes.get).headOption.exists(c => names.forall(hasField(c, _)))
    }

  private def hasField(c: ClassFacts, name: String): Boolean =
    c.methodKeys.exists(_.startsWith(s"$name()"))
}
