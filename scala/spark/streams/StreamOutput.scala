package io.sash.spark.streams

import java.util.Locale

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor}
import org.apache.spark.sql.types.{StructField, StructType}

import io.sash.spark.SashConf

/**
 * When a query starts, of which not before then the output mode is known: refuses what its windows
 * could not run with, and plans its hops.
 */
private[spark] object CheckStreamingWrite extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case w: WriteToStreamStatement =>
      if (w.inputQuery.exists(isOver)) {
        checkMode(w.outputMode)
        checkStore(conf.getConf(SQLConf.STATE_STORE_PROVIDER_CLASS))
      }
      if (SashConf.hopsEnabled(conf)) w.withNewChildren(Seq(new StreamHops(w, conf).query)) else w
    case other => other
  }

  /** What Spark would say of another mode is of its own operators. */
  private def checkMode(mode: OutputMode): Unit = if (mode != OutputMode.Append()) {
    throw new AnalysisException(
      errorClass = "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
      messageParameters = Map(
        "outputMode" -> mode.toString.toLowerCase(Locale.ROOT),
        "operation" -> "windows of rows (OVER), which answer each row once; write in append mode"
      )
    )
  }

  /** Spark says it in the first batch. */
  private def checkStore(provider: String): Unit = if (!isRocksDB(provider)) {
    throw new AnalysisException(
      errorClass = "UNSUPPORTED_FEATURE.STORE_BACKEND_NOT_SUPPORTED_FOR_TWS",
      messageParameters = Map(
        "stateStoreProvider" -> (s"$provider, to which " +
          s"${SQLConf.STATE_STORE_PROVIDER_CLASS.key} is set,")
      )
    )
  }

  def isRocksDB(provider: String): Boolean = provider.endsWith(".RocksDBStateStoreProvider")

  private def isOver(plan: LogicalPlan): Boolean = plan match {
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
        val pruned = StatefulPlan.over(
          Project(child, stateful.child),
          kept.map(fields),
          new StreamProcessor(program)
        )
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
