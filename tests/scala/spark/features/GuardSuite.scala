package io.sash.spark.features

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import io.sash.spark.features.status.{FeatureName, FeatureStatus}

/** Links that turn out to be missing while a query is planned. */
class GuardSuite extends AnyFunSuite with BeforeAndAfterEach {
  private val plan = LocalRelation()
  private val noSession: SparkSession = null

  override protected def afterEach(): Unit = FeatureStatus.reasons.clear()

  private final class Failing(error: => Throwable) extends Rule[LogicalPlan] {
    var runs = 0

    override def apply(plan: LogicalPlan): LogicalPlan = {
      runs += 1
      throw error
    }
  }

  for (
    error <- Seq(
      new NoSuchMethodError("Window.copy"),
      new NoClassDefFoundError("Window"),
      new AbstractMethodError("groups"),
      new ExceptionInInitializerError("of Window")
    )
  )
    test(
      s"a rule that ends with ${error.getClass.getSimpleName} leaves plans as they are, from then on"
    ) {
      val feature = FeatureName.Lateral
      val failing = new Failing(error)
      val rule = new Guard(feature).rule(_ => failing)(noSession)
      assert(rule.ruleName == failing.ruleName)
      assert(rule(plan) eq plan)
      assert(rule(plan) eq plan)
      assert(failing.runs == 1)
      assert(FeatureStatus.reason(feature).exists(_.contains(error.toString)))
    }

  test("rules of one feature are off together, and no other's") {
    val first = new Guard(FeatureName.Windows)
    first.rule(_ => new Failing(new NoSuchMethodError("one")))(noSession)(plan)
    val strategy = new SparkStrategy {
      override def apply(plan: LogicalPlan): Seq[SparkPlan] =
        throw new IllegalStateException("ran")
    }
    assert(new Guard(FeatureName.Windows).strategy(_ => strategy)(noSession)(plan).isEmpty)
    new Guard(FeatureName.Windows)
      .check(_ => _ => throw new IllegalStateException("ran"))(noSession)(plan)
    intercept[IllegalStateException](
      new Guard(FeatureName.Hops).strategy(_ => strategy)(noSession)(plan)
    )
  }

  test("a rule that cannot be made changes nothing") {
    val rule = new Guard(FeatureName.Functions).rule[LogicalPlan](_ =>
      throw new NoClassDefFoundError("Rule")
    )(
      noSession
    )
    assert(rule(plan) eq plan)
  }

  test("other errors are the query's") {
    val failing = new Failing(new IllegalArgumentException("no"))
    intercept[IllegalArgumentException](
      new Guard(FeatureName.Functions).rule(_ => failing)(noSession)(plan)
    )
    assert(FeatureStatus.isOn(FeatureName.Functions))
  }
}
