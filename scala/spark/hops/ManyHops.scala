package io.sash.spark.hops

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.{TypeCheckResult, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Generate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.catalyst.trees.TreePattern.{
  TIME_WINDOW,
  TreePattern,
  UNRESOLVED_FUNCTION
}
import org.apache.spark.sql.types._

import io.sash.spark.base.{SashConf, TimeUnit}

/**
 * `window(time, size, slide, start)` with at least `Few` windows for each row. Spark's analyzer
 * would write an expression for each window and run all its rules over all of them, which takes
 * long.
 *
 * The analyzer treats this expression as a TimeWindow, except that [[ResolveManyHops]] makes one
 * Generate of it.
 *
 * @param size in microseconds, as are the slide and the start
 */
private[hops] final case class ManyHops(time: Expression, size: Long, slide: Long, start: Long)
    extends UnaryExpression
    with ImplicitCastInputTypes
    with Unevaluable
    with NonSQLExpression {
  def asSparks: TimeWindow = TimeWindow(time, size, slide, start)

  override def child: Expression = time
  override def inputTypes = asSparks.inputTypes // its type is private to Spark
  override def checkInputDataTypes(): TypeCheckResult = asSparks.checkInputDataTypes()
  override def dataType: DataType = asSparks.dataType
  override def prettyName: String = asSparks.prettyName
  override lazy val resolved: Boolean = false
  override val nodePatterns: Seq[TreePattern] = Seq(TIME_WINDOW)

  override protected def withNewChildInternal(newChild: Expression): ManyHops =
    copy(time = newChild)
}

private[spark] object ManyHops {

  /** Calls with fewer windows for each row are left to Spark's analyzer. */
  val Few = 100

  /**
   * Replaces a `window` call in an Aggregate or a Project by a ManyHops, before Spark resolves
   * the call.
   */
  final class Find(session: SparkSession) extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      if (!SashConf.hopsEnabled(conf)) plan
      else
        plan.resolveOperatorsUpWithPruning(_.containsPattern(UNRESOLVED_FUNCTION)) {
          case asker @ (_: Aggregate | _: Project) =>
            val calls = asker.expressions.flatMap(_.collect { case Call(name, f) => name -> f })
            calls.distinct match {
              case Seq((Window, call)) if isPlain(call) =>
                many(call).fold(asker) { hops =>
                  asker.transformExpressions { case `call` => hops }
                }
              // Spark refuses several calls itself
              case _ => asker
            }
        }

    private def many(call: UnresolvedFunction): Option[ManyHops] = {
      val registry = session.sessionState.functionRegistry
      // in some versions, names of Spark's functions have catalog and schema
      registry.listFunction().filter(_.funcName == Window) match {
        case Seq(name) =>
          // if the call is invalid, Spark reports the error
          Try(registry.lookupFunction(name, call.arguments)).toOption.collect {
            case TimeWindow(time, size, slide, start)
                if HopPanes.areNumbered(size, slide) && size / slide >= Few =>
              CurrentOrigin.withOrigin(call.origin)(ManyHops(time, size, slide, start))
          }
        // a user's function of the same name takes precedence
        case _ => None
      }
    }
  }

  private val Window = "window"

  private object Call {
    def unapply(f: UnresolvedFunction): Option[(String, UnresolvedFunction)] =
      Some(f.nameParts.last.toLowerCase(Locale.ROOT))
        .filter(Set(Window, "session_window"))
        .map(_ -> f)
  }

  /**
   * Whether a call has no schema, DISTINCT, FILTER and so on. It checks all fields, since
   * versions of Spark differ in them.
   */
  private def isPlain(f: UnresolvedFunction): Boolean =
    f.nameParts.size == 1 && f.children.size == f.arguments.size && f.productIterator.forall {
      case is: Boolean  => !is
      case o: Option[_] => o.isEmpty
      case _            => true
    }
}

/**
 * Generates all windows of each row below the Aggregate or Project, as Spark's TimeWindowing
 * does.
 */
private[spark] object ResolveManyHops extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(TIME_WINDOW)) {
      case asker @ (_: Aggregate | _: Project) =>
        val hops = asker.expressions.flatMap(_.collect { case h: ManyHops => h }).distinct
        if (hops.isEmpty || hops.exists(!_.time.resolved)) asker
        else if (hops.size == 1 && hops.forall(isOfInstants)) generated(asker, hops.head)
        else asker.transformExpressions { case many: ManyHops => many.asSparks }
    }

  private def isOfInstants(hops: ManyHops): Boolean =
    TimeUnit.Micro.isUnitOf(hops.time.dataType) &&
      hops.time.deterministic && hops.checkInputDataTypes().isSuccess

  private def generated(asker: LogicalPlan, hops: ManyHops): LogicalPlan = {
    val metadata = hops.time match {
      case a: Attribute => a.metadata
      case _            => Metadata.empty
    }
    val window = AttributeReference(
      hops.prettyName,
      hops.dataType,
      metadata = new MetadataBuilder()
        .withMetadata(metadata)
        .putBoolean(TimeWindow.marker, true)
        .build()
    )()
    val windows = WindowsOf(
      PreciseTimestampConversion(hops.time, hops.time.dataType, LongType),
      HopPanes(hops.size, hops.slide, hops.start, conf.ansiEnabled),
      window.dataType
    )
    val each = Generate(windows, Nil, outer = false, None, Seq(window), asker.children.head)
    asker.transformExpressions { case _: ManyHops => window }.withNewChildren(Seq(each))
  }
}

/**
 * The windows of a time, a row for each, the last first; no rows if the time is NULL.
 *
 * It runs if neither Sash nor another rule answers the Aggregate above without copies.
 *
 * @param child the time in microseconds
 * @param window the type of a window: a struct of its start and its end
 */
private[hops] final case class WindowsOf(child: Expression, hops: HopPanes, window: DataType)
    extends UnaryExpression
    with Generator
    with CodegenFallback {

  override def elementSchema: StructType = new StructType().add("window", window)

  override def eval(input: InternalRow): IterableOnce[InternalRow] = child.eval(input) match {
    case time: Long =>
      val pane = hops.paneOf(time)
      val first = hops.firstWindowOf(pane)
      Iterator.iterate(hops.lastWindowOf(pane))(_ - 1).takeWhile(_ >= first).map { n =>
        InternalRow(InternalRow(hops.startOf(n), hops.endOf(n)))
      }
    case _ => Iterator.empty
  }

  override def prettyName: String = "windows"

  override protected def withNewChildInternal(newChild: Expression): WindowsOf =
    copy(child = newChild)
}
