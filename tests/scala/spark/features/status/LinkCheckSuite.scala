package io.sash.spark.features.status

import org.scalatest.funsuite.AnyFunSuite

import FeatureName._

/** A feature is off, with its reason, on a Spark that changed one of the classes it needs. */
class LinkCheckSuite extends AnyFunSuite {
  private val expressions = "org.apache.spark.sql.catalyst.expressions"
  private val logical = "org.apache.spark.sql.catalyst.plans.logical"
  private val execution = "org.apache.spark.sql.execution"

  private def lacks(what: String): String = s"this Spark lacks $what"

  /** A change, which are off, and the first reason of one of them. */
  private val changes: Seq[(OtherSpark, Set[FeatureName], String)] = Seq(
    (
      Longer(s"$expressions.XxHash64", "<init>"),
      Set(Split, Ordering),
      lacks(s"new $expressions.XxHash64(Seq)")
    ),
    (
      Absent(s"$execution.SortExec"),
      Set(Ordering),
      lacks(s"the class $execution.SortExec")
    ),
    (
      Longer("org.apache.spark.util.collection.unsafe.sort.RadixSort", "sortKeyPrefixArray"),
      Set(Split, Ordering),
      lacks(
        "org.apache.spark.util.collection.unsafe.sort.RadixSort.sortKeyPrefixArray(LongArray, "
      )
    ),
    (
      Absent(s"$execution.CodegenSupport"),
      Set(Windows, Lateral),
      lacks(s"the class $execution.CodegenSupport")
    ),
    (
      Longer(s"$execution.ProjectExec", "<init>"),
      Set(Windows, Streams),
      lacks(s"new $execution.ProjectExec(Seq, SparkPlan)")
    ),
    (
      Longer(s"$execution.CodegenSupport", "consume"),
      Set(Windows, Lateral),
      lacks(s"$execution.CodegenSupport.consume(CodegenContext, Seq, String)")
    ),
    (
      Asks(s"$execution.CodegenSupport", "groups"),
      Set(Windows, Lateral),
      s"this Spark asks for $execution.CodegenSupport.groups(), which Sash does not have"
    ),
    (
      Longer(s"$logical.Statistics", "<init>"),
      Set(Hops, Lateral),
      lacks(s"new $logical.Statistics(BigInt, Option, AttributeMap, boolean)")
    ),
    (
      Absent(s"$execution.aggregate.BaseAggregateExec"),
      Set(Hops),
      lacks(s"the class $execution.aggregate.BaseAggregateExec")
    ),
    (
      Longer(s"$expressions.TimeWindow", "interval"),
      Set.empty,
      ""
    ),
    (
      Longer(s"$expressions.TimeWindow", "timeColumn"),
      Set(Hops),
      lacks(s"$expressions.TimeWindow.timeColumn()")
    ),
    (
      Longer(s"$logical.TransformWithState", "<init>"),
      Set(Streams),
      "new "
    ),
    (
      Absent("org.apache.spark.sql.streaming.StatefulProcessorHandle"),
      Set(Streams),
      lacks("the class org.apache.spark.sql.streaming.StatefulProcessorHandle")
    ),
    (
      Longer("org.apache.spark.sql.streaming.MapState", "iterator"),
      Set(Streams),
      lacks("org.apache.spark.sql.streaming.MapState.iterator()")
    ),
    (
      Asks("org.apache.spark.sql.streaming.StatefulProcessor", "handleGroups"),
      Set(Streams),
      "this Spark asks for org.apache.spark.sql.streaming.StatefulProcessor.handleGroups(), " +
        "which Sash does not have"
    ),
    (
      Longer(s"$expressions.aggregate.Product", "<init>"),
      Set(Functions),
      lacks(s"new $expressions.aggregate.Product(Expression)")
    ),
    (
      Absent(s"$expressions.ExpressionInfo"),
      // functions give the answers as of a label
      Set(Functions, Lateral),
      lacks(s"the class $expressions.ExpressionInfo")
    ),
    (
      Absent(s"$execution.adaptive.AdaptiveSparkPlanHelper"),
      Set(Base),
      lacks(s"the class $execution.adaptive.AdaptiveSparkPlanHelper")
    ),
    (
      Absent("org.apache.spark.sql.catalyst.plans.logical.LateralJoin"),
      Set(Lateral),
      lacks("the class org.apache.spark.sql.catalyst.plans.logical.LateralJoin")
    ),
    // reached by reflection
    (
      Absent("org.apache.spark.sql.catalyst.plans.logical.Window$"),
      Set(Lateral),
      lacks("the constructor of Window with defaults")
    ),
    (
      Absent("org.apache.spark.sql.catalyst.optimizer.InlineCTE$"),
      Set(Streams),
      lacks("the constructor of InlineCTE with defaults")
    ),
    (
      Absent("org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution$"),
      Set(Windows, Ordering, Hops),
      lacks("the constructor of ClusteredDistribution with defaults")
    ),
    (
      Longer(s"$expressions.TimestampAddInterval", "<init>"),
      Set(Windows, Streams),
      lacks("an expression that adds an interval to a time")
    ),
    (
      Longer(
        s"$execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec",
        "stateInfo"
      ),
      Set(Streams),
      lacks("eventTimeWatermarkForLateEvents or stateInfo of TransformWithStateExec")
    )
  )

  for ((change, off, reason) <- changes)
    test(s"$change: ${if (off.isEmpty) "none" else off.mkString(", ")}") {
      val missing = FeatureStatus.missing(OtherSpark.loader(change))
      assert(missing.keySet == off, missing)
      for ((feature, all) <- missing)
        assert(all.exists(_.contains(reason)), s"$feature: $all")
    }

  test("nothing is missing of the Spark that it is compiled for") {
    assert(FeatureStatus.missing(getClass.getClassLoader).isEmpty)
  }

  test("a class whose file is not shown is looked at by reflection") {
    val hidden = new ClassLoader(getClass.getClassLoader) {
      override def getResourceAsStream(name: String): java.io.InputStream =
        if (name.contains("/spark/") && name.hashCode % 5 == 0) null
        else super.getResourceAsStream(name)
    }
    assert(FeatureStatus.missing(hidden).isEmpty)
  }

  test("files that are of no known format are looked at by reflection, too") {
    val broken = new ClassLoader(getClass.getClassLoader) {
      override def getResourceAsStream(name: String): java.io.InputStream =
        if (name.endsWith("/catalyst/expressions/Add.class"))
          new java.io.ByteArrayInputStream(Array.fill(100)(99))
        else super.getResourceAsStream(name)
    }
    assert(FeatureStatus.missing(broken).isEmpty)
  }
}
