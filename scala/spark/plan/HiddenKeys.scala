package io.sash.spark.plan

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  KnownNullable,
  NamedExpression,
  WindowSpecDefinition
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW

import io.sash.spark.base.SparkVersions

/**
 * Keys of a window over labels and events, hidden from Spark's rules. Those move a condition on
 * the keys below the window if the keys are plain columns. There the condition would meet events
 * of no label, for which it may fail, and events whose key equals a label's in another form, as
 * 'a' and 'A' under a collation.
 *
 * The rule shows the keys again once all conditions have moved.
 */
private[spark] object HiddenKeys extends Rule[LogicalPlan] {

  def hidden(key: Attribute): Expression = KnownNullable(key)

  def shown(key: Expression): Expression = key match {
    case KnownNullable(of) => of
    case other             => other
  }

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(WINDOW)) {
      case w: Window if w.partitionSpec.exists(k => shown(k) ne k) =>
        val expressions = w.windowExpressions.map(_.transform { case s: WindowSpecDefinition =>
          s.copy(partitionSpec = s.partitionSpec.map(shown))
        }.asInstanceOf[NamedExpression])
        SparkVersions.window(expressions, w.partitionSpec.map(shown), w.orderSpec, w.child)
    }
}
