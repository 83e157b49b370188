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

import io.sash.spark.base.SashConf

/**
 * `window(time, size, slide, start)` with so many windows for each row that Spark's analyzer would be
 * at it for long, which writes an expression for each and passes all of them through all its rules.
 *
 * The analyzer takes it for a TimeWindow in all but that: [[ResolveManyHops]] makes it one Generate.
 *
 * @param size in microseconds, as the slide and the start
 */
private[hops] final case class ManyHops(time: Expression, size: Long, slide: Long, start: Long)
    extends UnaryExpression
    with ImplicitCastInputTypes
    with Unevaluable
    with NonSQLExpression {
  def asSparks: TimeWindow = TimeWindow(time, size, slide, start)

  override def child: Expression = time
  override def inputTypes = asSparks.inputTypes // of a type that Spark keeps to itself
  override def checkInputDataTypes(): TypeCheckResult = asSparks.checkInputDataTypes()
  override def dataType: DataType = asSparks.dataType
  override def prettyName: String = asSparks.prettyName
  override lazy val resolved: Boolean = false
  override val nodePatterns: Seq[TreePattern] = Seq(TIME_WINDOW)

  override protected def withNewChildInternal(newChild: Expression): ManyHops =
    copy(time = newChild)
}

private[spark] object ManyHops {

  /** Fewer windows for each row than this are left to Spark's analyzer. */
  val Few = 100

  /** Puts it in the place of a call that an Aggregate or a Project has and that nothing has resolved yet. */
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
              // of several Spark says that it has no way
              case _ => asker
            }
        }

    private def many(call: UnresolvedFunction): Option[ManyHops] = {
      val registry = session.sessionState.functionRegistry
      // the names of Spark's own functions have catalog and schema in some versions
      registry.listFunction().filter(_.funcName == Window) match {
        case Seq(name) =>
          // what is wrong about the call, Spark says
          Try(registry.lookupFunction(name, call.arguments)).toOption.collect {
            case TimeWindow(time, size, slide, start)
                if HopPanes.areNumbered(size, slide) && size / slide >= Few =>
              CurrentOrigin.withOrigin(call.origin)(ManyHops(time, size, slide, start))
          }
        // a function of the user's goes before it
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

  /** Without a schema, DISTINCT, FILTER and so on, of which not all versions know the same. */
  private def isPlain(f: UnresolvedFunction): Boolean =
    f.nameParts.size == 1 && f.children.size == f.arguments.size && f.productIterator.forall {
      case is: Boolean  => !is
      case o: Option[_] => o.isEmpty
      case _            => true
    }
}

/** Puts all the windows of each row below the Aggregate or Project, as Spark's TimeWindowing does. */
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
    Seq(TimestampType, TimestampNTZType).contains(hops.time.dataType) &&
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
 * The windows that a time is in, the last first, one row each; none of NULL.
 *
 * It runs where neither Sash nor anything else has found a better way to answer the Aggregate above.
 *
 * @param child the time in microseconds
 * @param window what a window is: where it begins and ends
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
