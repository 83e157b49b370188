package io.sash.spark.streams

import java.util.Locale

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor}
import org.apache.spark.sql.types.{StructField, StructType}

/** Refuses output modes before Spark checks them: what it would say is of its own operators. */
private[spark] object CheckOutputMode extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case w: WriteToStreamStatement
          if w.outputMode != OutputMode.Append() && w.inputQuery.exists(isOurs) =>
        throw new AnalysisException(
          errorClass = "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
          messageParameters = Map(
            "outputMode" -> w.outputMode.toString.toLowerCase(Locale.ROOT),
            "operation" -> ("windows of rows (OVER), which answer each row once; " +
              "write in append mode")
          )
        )
      case _ => ()
    }
    plan
  }

  private def isOurs(plan: LogicalPlan): Boolean = plan match {
    case OfStream(_, _) => true
    case _              => false
  }
}

/** Leaves out the columns of a window over a stream that nobody above it asks for. */
private[spark] object PruneStreamColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case Project(list, OfStream(stateful, processor)) if isWhole(list, stateful) =>
      val fields = fieldsOf(stateful)
      val answers = stateful.outputObjAttr
      val used = list.flatMap(_.collect { case FieldOf(`answers`, i) => i }).toSet
      val kept = fields.indices.filter(used)
      if (kept.length == fields.length || kept.isEmpty) {
        Project(list, stateful)
      } else {
        val program = processor.program.pruned(kept)
        val child = stateful.child.output.zip(processor.program.input).collect {
          case (column, a) if program.input.exists(_.exprId == a.exprId) => column
        }
        val pruned = StatefulPlan.over(Project(child, stateful.child), kept.map(fields), program)
        val ordinals = kept.zipWithIndex.toMap
        Project(
          list.map(_.transform { case FieldOf(`answers`, i) =>
            GetStructField(pruned.outputObjAttr, ordinals(i), Some(fields(i).name))
          }.asInstanceOf[NamedExpression]),
          pruned
        )
      }
  }

  private def fieldsOf(stateful: TransformWithState): IndexedSeq[StructField] =
    stateful.outputObjAttr.dataType.asInstanceOf[StructType].fields.toIndexedSeq

  /** Whether the answers are only asked for their fields. */
  private def isWhole(list: Seq[NamedExpression], stateful: TransformWithState): Boolean = {
    val answers = stateful.outputObjAttr
    val outside = list.map(_.transform { case FieldOf(`answers`, _) => Literal(true) })
    !outside.exists(_.references.contains(answers))
  }
}

/** A field of a column, and its place in it. */
private object FieldOf {
  def unapply(e: Expression): Option[(Attribute, Int)] = e match {
    case GetStructField(a: Attribute, i, _) => Some((a, i))
    case _                                  => None
  }
}

/** A transformWithState of ours. */
private[spark] object OfStream {
  def unapply(plan: LogicalPlan): Option[(TransformWithState, StreamProcessor)] = plan match {
    case t: TransformWithState =>
      (t.statefulProcessor: StatefulProcessor[_, _, _]) match {
        case p: StreamProcessor => Some((t, p))
        case _                  => None
      }
    case _ => None
  }
}
