package io.sash.spark.hops

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{TypeCheckResult, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
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
 * A call `window(time, size, slide, start)` with several windows per row. For a TimeWindow,
 * Spark's analyzer would write an expression per window, and run all its rules over all of them.
 * It treats this expression alike, except that [[ResolveHopCalls]] makes one Generate of it.
 *
 * @param size the length of a window in microseconds; slide and start are in microseconds, too
 */
private[hops] final case class HopCall(time: Expression, size: Long, slide: Long, start: Long)
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

  override protected def withNewChildInternal(newChild: Expression): HopCall =
    copy(time = newChild)
}

private[spark] object HopCall {

  /**
   * Replaces the `window` calls of an Aggregate or a Project by HopCalls, before Spark resolves
   * them.
   */
  final class Find(session: SparkSession) extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      if (!SashConf.hopsEnabled(conf)) plan
      else
        plan.resolveOperatorsUpWithPruning(_.containsPattern(UNRESOLVED_FUNCTION)) {
          case asker @ (_: Aggregate | _: Project) =>
            val calls = asker.expressions.flatMap(_.collect { case Call(f) => f }).distinct
            val hops = calls.flatMap(call => of(call).map(call -> _)).toMap[Expression, HopCall]
            // beside a call of another kind, Spark refuses all of them itself
            if (calls.isEmpty || hops.size < calls.size) asker
            else asker.transformExpressions { case f if hops.contains(f) => hops(f) }
        }

    private def of(call: UnresolvedFunction): Option[HopCall] = {
      val registry = session.sessionState.functionRegistry
      // in some versions, the names of Spark's functions have a catalog and a schema
      registry.listFunction().filter(_.funcName == Window) match {
        case Seq(name) if isPlain(call) =>
          // if the call is invalid, Spark reports the error
          Try(registry.lookupFunction(name, call.arguments)).toOption.collect {
            case TimeWindow(time, size, slide, start)
                if size > slide && HopPanes.areNumbered(size, slide) =>
              CurrentOrigin.withOrigin(call.origin)(HopCall(time, size, slide, start))
          }
        // a user's function of the same name takes precedence
        case _ => None
      }
    }
  }

  private val Window = "window"

  private object Call {
    def unapply(f: UnresolvedFunction): Option[UnresolvedFunction] =
      Some(f).filter(f => Set(Window, "session_window")(nameOf(f)))
  }

  private def nameOf(f: UnresolvedFunction): String = f.nameParts.last.toLowerCase(Locale.ROOT)

  /**
   * Whether a call of `window` has no schema, DISTINCT, FILTER and so on. All fields of the call
   * are checked, since versions of Spark differ in them.
   */
  private def isPlain(f: UnresolvedFunction): Boolean =
    nameOf(f) == Window && f.nameParts.size == 1 && f.children.size == f.arguments.size &&
      f.productIterator.forall {
        case is: Boolean  => !is
        case o: Option[_] => o.isEmpty
        case _            => true
      }
}

/** Generates all windows of each row below an Aggregate or Project, as TimeWindowing does. */
private[spark] object ResolveHopCalls extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(TIME_WINDOW)) {
      case asker @ (_: Aggregate | _: Project) =>
        val hops = asker.expressions.flatMap(_.collect { case h: HopCall => h }).distinct
        if (hops.isEmpty || hops.exists(!_.time.resolved)) asker
        else
          hops match {
            case Seq(HopCall(time, _, _, _)) if time.dataType.isInstanceOf[StructType] =>
              asker.transformExpressions { case h: HopCall => h.copy(time = WindowTime(time)) }
            case Seq(one) if isOfInstants(one) && !isCorrelated(asker, one) =>
              generated(asker, one)
            case _ => asker.transformExpressions { case h: HopCall => h.asSparks }
          }
    }

  private def isOfInstants(hops: HopCall): Boolean =
    TimeUnit.Micro.isUnitOf(hops.time.dataType) &&
      hops.time.deterministic && hops.checkInputDataTypes().isSuccess

  /** Whether a correlated subquery keeps Spark's own plan, which Spark can decorrelate. */
  private def isCorrelated(asker: LogicalPlan, hops: HopCall): Boolean =
    WindowsOf.areCopied(hops.size, hops.slide) && SubExprUtils.hasOuterReferences(asker)

  private def generated(asker: LogicalPlan, hops: HopCall): LogicalPlan = {
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
    asker.transformExpressions { case _: HopCall => window }.withNewChildren(Seq(each))
  }
}
