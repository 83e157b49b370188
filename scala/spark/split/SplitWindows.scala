package io.sash.spark.split

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical.RangePartitioning
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.LongType

import io.sash.spark.base.{SashConf, SparkVersions}
import io.sash.spark.ordering.KeyOrder
import io.sash.spark.windows.Ties

/**
 * Plans windows that many tasks answer, even for one key. Windows without PARTITION BY are
 * divided by default, others if a setting asks for it.
 */
private[spark] object SplitWindows {

  /** Tags a window with the reason why one task answers all its rows, or all rows of a key. */
  val OneTask: TreeNodeTag[String] = TreeNodeTag("sash.oneTask")

  /**
   * The number of stretches per task. A task reads whole stretches of its neighbours, so short
   * ones are cheaper. But each stretch is one more piece of every map output.
   */
  private def stretchesOf(tasks: Int): Int = math.max(1, math.min(8, 2000 / tasks))

  /** All tasks together take about twice the CPU time of one task (docs/benchmarks/split.md). */
  private val LeastCores = 4

  private def cores: Int = SparkSession.active.sparkContext.defaultParallelism

  /** The number of tasks that adaptive execution would make of the exchange, by its estimate. */
  private def tasksFor(window: Window, conf: SQLConf): Int = {
    val bytes = conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
    val bySize = sizeOf(window.child, conf).fold(0)(s => (s / bytes).min(Int.MaxValue).toInt)
    math.min(conf.numShufflePartitions, math.max(2 * cores, bySize))
  }

  /**
   * The estimated bytes of a plan's rows, at most the bytes of its tables, since Spark estimates
   * a join by their product. None if Spark does not know the size of a table.
   */
  private def sizeOf(plan: LogicalPlan, conf: SQLConf): Option[BigInt] = {
    val tables = plan.collectLeaves().map(_.stats.sizeInBytes)
    Option.when(tables.forall(_ < conf.defaultSizeInBytes))(
      plan.stats.sizeInBytes.min(tables.sum)
    )
  }

  /** Matches a window that is divided, and gives its expressions. Tags others with the reason. */
  def unapply(window: Window): Option[Seq[NamedExpression]] = {
    val conf = SQLConf.get
    if (!SashConf.enabled(conf) || !isAsked(window, conf)) None
    else {
      val split =
        whole(window, conf)
          .toLeft(())
          .flatMap(_ =>
            SplitCalls.of(window, SashConf.algorithm(conf), conf.sessionLocalTimeZone)
          )
      val rows = if (window.partitionSpec.isEmpty) "" else "each key "
      split.left.foreach(why => window.setTagValue(OneTask, s"${rows}in one task: $why"))
      split.toOption
    }
  }

  private def isAsked(window: Window, conf: SQLConf): Boolean = !window.isStreaming &&
    (if (window.partitionSpec.isEmpty) window.orderSpec.nonEmpty else SashConf.splitsKeys(conf))

  /** The reason why one task has to answer the whole window, or each key; none if many can. */
  private def whole(window: Window, conf: SQLConf): Option[String] = {
    val (size, threshold) = (sizeOf(window.child, conf), SashConf.splitThreshold(conf))
    val unordered = window.partitionSpec.find(k => !RowOrdering.isOrderable(k.dataType))
    if (!SashConf.splits(conf)) Some(s"${SashConf.WindowSplit.key} is off")
    else if (window.orderSpec.isEmpty) Some("it has no ORDER BY")
    else if (unordered.nonEmpty) unordered.map(k => s"rows cannot be ordered by ${k.sql}")
    else if (conf.numShufflePartitions == 1) Some(s"${SQLConf.SHUFFLE_PARTITIONS.key} is 1")
    else if (hasFewRows(window.child).nonEmpty) hasFewRows(window.child)
    else if (threshold == 0) None
    else if (size.isEmpty) Some("the size of its input is not known")
    else if (size.exists(_ >= threshold) && cores < LeastCores)
      Some(s"Spark has $cores cores, fewer than $LeastCores")
    else
      size.filter(_ < threshold).map { bytes =>
        s"its input has an estimated $bytes bytes, less than ${SashConf.WindowSplitThreshold.key}"
      }
  }

  /** The reason, if the plan itself shows that its rows are few, or lie in one partition. */
  private def hasFewRows(plan: LogicalPlan): Option[String] = {
    val inOne = "its rows lie in one partition"
    plan match {
      case r: RepartitionOperation => Option.when(r.numPartitions == 1)(inOne)
      case _: GlobalLimit          => Some(inOne)
      case l: WindowGroupLimit if l.partitionSpec.isEmpty => Some(inOne)
      case _: WindowGroupLimit => Some("a limit leaves few rows of each key")
      case _: Project | _: Filter | _: SubqueryAlias => hasFewRows(plan.children.head)
      case _                                         => None
    }
  }

  /**
   * The operator over an exchange by range. If an answer depends on the order of rows that tie,
   * rows are numbered before the exchange, so that the order is the same in all tasks.
   */
  def planned(
      window: Window,
      expressions: Seq[NamedExpression],
      conditions: Seq[Expression],
      child: SparkPlan,
      conf: SQLConf
  ): SparkPlan = {
    val number = Option.when(Ties.areSeenIn(expressions))(
      AttributeReference("tieBreaker", LongType, nullable = false)()
    )
    val by = KeyOrder(window.partitionSpec, window.orderSpec)
    val numbered = number.fold(child)(TieBreakerExec(_, child))
    val tasks = tasksFor(window, conf)
    val ranges = RangePartitioning(by.sorted, tasks * stretchesOf(tasks))
    SplitWindowExec(
      expressions,
      by.keys,
      by.within,
      number,
      conditions,
      SashConf.algorithm(conf),
      tasks,
      SparkVersions.exchange(ranges, numbered)
    )
  }
}
