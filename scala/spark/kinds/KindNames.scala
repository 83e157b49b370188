package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.analysis.UnresolvedAlias
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.util.AUTO_GENERATED_ALIAS
import org.apache.spark.sql.types.MetadataBuilder

import io.sash.spark.base.SparkVersions

/**
 * Names columns that the query does not name, if they ask for a window of a kind. Spark's name
 * would show the default frame, but the kind defines other rows. So this name is Spark's without
 * the frame.
 */
private[kinds] object KindNames {

  /** The column before Spark names it. */
  def named(column: UnresolvedAlias): NamedExpression = column match {
    case UnresolvedAlias(e, _) if !e.exists(isOfKind) => column
    case UnresolvedAlias(_, Some(_: KindName))        => column
    case UnresolvedAlias(e, Some(name))               => UnresolvedAlias(e, Some(KindName(name)))
    case UnresolvedAlias(e, None) if e.resolved       =>
      // with the mark by which Spark refuses a permanent view of it
      val mark = new MetadataBuilder().putString(AUTO_GENERATED_ALIAS, "true").build()
      Alias(e, KindName(SparkVersions.prettySql(_))(e))(explicitMetadata = Some(mark))
    case _ => column // not resolved yet: a cast or a lambda around the window waits for it
  }

  private def isOfKind(e: Expression): Boolean = e match {
    case WindowExpression(_, spec) if spec.partitionSpec.exists(isKind) => true
    case WindowExpression(AggregateExpression(s: SlidingAggregate, _, _, _, _), _) =>
      s.kind.nonEmpty
    case _ => false
  }

  private def isKind(e: Expression): Boolean = e match {
    case PendingKind(kind) => isKind(kind)
    case kind: WindowKind  => !kind.isInstanceOf[WindowModifier]
    case _                 => false
  }

  /** Leaves the frames of windows of kinds out of a name. */
  private final case class KindName(name: Expression => String) extends (Expression => String) {
    override def apply(column: Expression): String = name(column.transform {
      case w: WindowExpression if isOfKind(w) =>
        val frame = s" ${w.windowSpec.frameSpecification.sql})"
        PrettyAttribute(SparkVersions.prettySql(w).stripSuffix(frame) + ")", w.dataType)
    })
  }
}
