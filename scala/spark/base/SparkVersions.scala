package io.sash.spark.base

import java.lang.{Boolean => JBoolean}

import org.apache.spark.sql.{catalyst, SparkSession}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedExpression, SortOrder}
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.catalyst.plans.physical.{
  ClusteredDistribution,
  Distribution,
  Partitioning
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{REPARTITION_BY_NUM, ShuffleExchangeExec}
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreId}
import org.apache.spark.sql.streaming.StatefulProcessorHandle

/** The minor versions of Spark that the jar is tested with. */
private[spark] object KnownVersions {
  val All: Seq[String] = Seq("4.0", "4.1", "4.2", "4.3")

  /** The key of a setting that Sash reads before it knows whether [[SashConf]] links. */
  val UntestedVersions = "spark.sash.untestedVersions"

  def contains(version: String): Boolean =
    All.exists(v => version == v || version.startsWith(v + "."))
}

/**
 * The differences between the versions of Spark that the jar runs on. The jar is compiled against
 * 4.2. These methods reach by reflection the names and constructors that differ elsewhere.
 */
private[spark] object SparkVersions {

  /**
   * ClusteredDistribution(clustering) with default values for the rest; 4.3 added a parameter.
   */
  def clusteredDistribution(clustering: Seq[Expression]): Distribution =
    withDefaults(classOf[ClusteredDistribution], clustering).asInstanceOf[Distribution]

  /**
   * An exchange that adaptive execution leaves as it is, since its number of partitions was asked
   * for; 4.3 added parameters.
   */
  def exchange(partitioning: Partitioning, child: SparkPlan): SparkPlan =
    withDefaults(classOf[ShuffleExchangeExec], partitioning, child, REPARTITION_BY_NUM)
      .asInstanceOf[SparkPlan]

  /**
   * Whether Spark fails a job that has read rows of a shuffle, if Spark computes these rows again
   * and gets other ones. Spark has the setting since 4.1, and it is on by default since 4.2.
   */
  def comparesRecomputedRows: Boolean = SparkSession.active.conf
    .getOption("spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch")
    .exists(_.toBoolean)

  /** The rule that inlines common table expressions; 4.3 added a parameter. */
  def inlineCommonTables: Rule[LogicalPlan] =
    withDefaults(classOf[InlineCTE], JBoolean.FALSE).asInstanceOf[Rule[LogicalPlan]]

  /** Adds an interval to a timestamp. The expression's class is called TimeAdd up to 4.0. */
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

  /**
   * Copies the window with other expressions. All other fields stay as they are, among them
   * fields that later versions add.
   */
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

  /** Makes a Window; 4.2 added a parameter with a default value. */
  def window(
      expressions: Seq[NamedExpression],
      partition: Seq[Expression],
      order: Seq[SortOrder],
      child: LogicalPlan
  ): Window =
    withDefaults(classOf[Window], expressions, partition, order, child).asInstanceOf[Window]

  /** The text by which Spark names a column; 4.2 added a parameter. */
  def prettySql(e: Expression): String = {
    val util = catalyst.util.`package`
    val method = util.getClass.getMethods.find(_.getName == "toPrettySQL").get
    val rest = (2 to method.getParameterCount).map { i =>
      util.getClass.getMethod(s"toPrettySQL$$default$$$i").invoke(util)
    }
    method.invoke(util, e +: rest: _*).asInstanceOf[String]
  }

  /**
   * Calls the constructor of a case class with `first` and the default values of all the others.
   */
  private def withDefaults(c: Class[_], first: AnyRef*): Any = {
    val constructor = c.getConstructors.maxBy(_.getParameterCount)
    val companion = Class.forName(c.getName + "$").getField("MODULE$").get(null)
    val rest = (first.length + 1 to constructor.getParameterCount).map { i =>
      companion.getClass.getMethod(s"$$lessinit$$greater$$default$$$i").invoke(companion)
    }
    constructor.newInstance(first ++ rest: _*)
  }
}

/** Version differences of function calls. Only the functions feature links to them. */
private[spark] object FunctionVersions {

  /**
   * Turns a call into one of Spark's internal function `name`. The type of the field for IGNORE
   * NULLS differs between versions.
   */
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

  /**
   * The identifier under which this Spark registers a built-in function: a name of one part, or
   * of three.
   */
  def builtinName(registry: FunctionRegistry, name: String): FunctionIdentifier =
    registry
      .listFunction()
      .find(_.funcName == "sum")
      .fold(FunctionIdentifier(name))(sparks =>
        FunctionIdentifier(name, sparks.database, sparks.catalog)
      )
}

/** Version differences of streams. Only the streams feature links to them. */
private[spark] object StreamVersions {

  /** Whether a query is to run in real-time mode, which came with Spark 4.1. */
  def isRealTime(statement: WriteToStreamStatement): Boolean =
    statement.productElementNames.zip(statement.productIterator).exists { case (name, value) =>
      name == "trigger" && value.getClass.getSimpleName == "RealTimeTrigger"
    }

  /** Whether a plan reads a stream in real-time mode. */
  def isRealTime(plan: SparkPlan): Boolean =
    plan.exists(_.getClass.getSimpleName == "RealTimeStreamScanExec")

  /**
   * The state store of a transformWithState processor. The handle keeps it in a private field.
   */
  def storeOf(handle: StatefulProcessorHandle): Option[StateStoreId] =
    handle.getClass.getDeclaredFields.find(_.getType == classOf[StateStore]).map { field =>
      field.setAccessible(true)
      field.get(handle).asInstanceOf[StateStore].id
    }
}
