package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.{StructField, StructType}

import io.sash.spark.streams.task.StreamProcessor

/** Removes columns of a window on a stream that nothing above reads. */
private[spark] object PruneStreamColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case project @ Project(list, OfStream(stateful, processor)) =>
      pruned(list, stateful, processor).fold[LogicalPlan](project) { case (plan, over) =>
        Project(over(list), plan)
      }
    case project @ Project(list, Filter(condition, OfStream(stateful, processor))) =>
      pruned(list :+ condition, stateful, processor).fold[LogicalPlan](project) {
        case (plan, over) =>
          Project(over(list), Filter(over(Seq(condition)).head, plan))
      }
  }

  /**
   * The operator without the fields that nobody reads, and the rewriting of expressions above it.
   * None if no field can be removed.
   */
  private def pruned(
      asking: Seq[Expression],
      stateful: TransformWithState,
      processor: StreamProcessor
  ): Option[(LogicalPlan, OverFields)] = {
    val fields = fieldsOf(stateful)
    val answers = stateful.outputObjAttr
    val used = asking.flatMap(_.collect { case FieldOf(`answers`, i) => i }).toSet
    val kept = fields.indices.filter(used)
    Option.when(
      isTakenApart(asking, answers) && kept.nonEmpty && kept.length < fields.length
    ) {
      val program = processor.program.pruned(kept)
      val child = stateful.child.output.zip(processor.program.input).collect {
        case (column, a) if program.input.exists(_.exprId == a.exprId) => column
      }
      val plan = StatefulPlan.over(
        Project(child, stateful.child),
        kept.map(fields),
        new StreamProcessor(program)
      )
      (plan, new OverFields(answers, plan.outputObjAttr, kept.map(i => i -> fields(i).name)))
    }
  }

  /** Rewrites expressions so that they read the kept fields at their new places. */
  private final class OverFields(from: Attribute, to: Attribute, kept: Seq[(Int, String)]) {
    private[this] val places = kept.zipWithIndex.map { case ((i, name), k) =>
      i -> (k, name)
    }.toMap

    def apply[E <: Expression](list: Seq[E]): Seq[E] =
      list.map(_.transform { case FieldOf(`from`, i) =>
        val (place, name) = places(i)
        GetStructField(to, place, Some(name))
      }.asInstanceOf[E])
  }

  private def fieldsOf(stateful: TransformWithState): IndexedSeq[StructField] =
    stateful.outputObjAttr.dataType.asInstanceOf[StructType].fields.toIndexedSeq

  /** Whether expressions read the answers only by their fields. */
  private def isTakenApart(asking: Seq[Expression], answers: Attribute): Boolean = {
    val outside = asking.map(_.transform { case FieldOf(`answers`, _) => Literal(true) })
    !outside.exists(_.references.contains(answers))
  }
}

/** Matches a field of a column: the column, and the ordinal of the field. */
private[spark] object FieldOf {
  def unapply(e: Expression): Option[(Attribute, Int)] = e match {
    case GetStructField(a: Attribute, i, _) => Some((a, i))
    case _                                  => None
  }
}
