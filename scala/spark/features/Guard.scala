package io.sash.spark.features

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNode
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, SparkStrategy}

import io.sash.spark.features.status.{FeatureName, FeatureStatus}

/**
 * Runs a feature's rules. If a rule meets a LinkageError, the feature is off for the rest of the
 * JVM's life: its rules return every plan unchanged, and no user sees the error.
 */
private[spark] final class Guard(feature: FeatureName) {

  def rule[P <: TreeNode[_]](build: SparkSession => Rule[P])(session: SparkSession): Rule[P] =
    run[Rule[P]](new Idle[P])(new Guarded(build(session)))

  def strategy(build: SparkSession => SparkStrategy)(session: SparkSession): SparkStrategy =
    run[SparkStrategy](IdleStrategy)(new GuardedStrategy(build(session)))

  /** A rule over physical plans that runs before Spark inserts columnar transitions. */
  def columnar(build: SparkSession => Rule[SparkPlan])(session: SparkSession): ColumnarRule = {
    val guarded = rule(build)(session)
    new ColumnarRule {
      override def preColumnarTransitions: Rule[SparkPlan] = guarded
    }
  }

  def check(build: SparkSession => LogicalPlan => Unit)(
      session: SparkSession
  ): LogicalPlan => Unit = {
    val check = run[LogicalPlan => Unit](_ => ())(build(session))
    plan => run(())(check(plan))
  }

  def run[T](otherwise: => T)(body: => T): T =
    if (!FeatureStatus.isOn(feature)) otherwise
    else
      try body
      catch {
        case e: LinkageError =>
          FeatureStatus.failed(feature, e)
          otherwise
      }

  private final class Guarded[P <: TreeNode[_]](rule: Rule[P]) extends Rule[P] {
    // the name under which Spark counts the rule's time and users exclude it
    override val ruleName: String = rule.ruleName

    override def apply(plan: P): P = run(plan)(rule(plan))
  }

  private final class Idle[P <: TreeNode[_]] extends Rule[P] {
    override def apply(plan: P): P = plan
  }

  private final class GuardedStrategy(strategy: SparkStrategy) extends SparkStrategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] =
      run(Seq.empty[SparkPlan])(strategy(plan))
  }

  private object IdleStrategy extends SparkStrategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] = Nil
  }
}
