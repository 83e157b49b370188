package io.sash.spark.windows

import java.lang.reflect.{Method, Proxy}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{
  EventTimeWatermark,
  LocalRelation,
  LogicalPlan,
  Window
}
import org.apache.spark.sql.types.{IntegerType, LongType, MetadataBuilder, TimestampType}

import io.sash.spark.SashSuite
import io.sash.spark.monoids.Refusal
import io.sash.spark.plan.SlidingWindowStrategy
import io.sash.spark.streams.plan.StreamWindows

/** Members of Spark's closed types that no Spark has yet. */
class UnknownWindowSuite extends SashSuite {

  /** The compiler seals the type; proxies are made where it does not look. */
  private val groups: FrameType = Proxy
    .newProxyInstance(
      classOf[FrameType].getClassLoader,
      Array(classOf[FrameType]),
      (proxy: Any, method: Method, arguments: Array[AnyRef]) =>
        method.getName match {
          case "sql" | "toString" => "GROUPS"
          case "inputType"        => IntegerType
          case "hashCode"         => Int.box(7)
          case "equals"           => Boolean.box(proxy.asInstanceOf[AnyRef] eq arguments.head)
        }
    )
    .asInstanceOf[FrameType]

  private def asGroups(frame: SpecifiedWindowFrame): WindowFrame = frame.copy(frameType = groups)

  private def longRows(frame: SpecifiedWindowFrame): WindowFrame =
    frame.copy(lower = Literal(-3L))

  private val changes: Seq[(String, SpecifiedWindowFrame => WindowFrame)] = Seq(
    "frames by GROUPS" -> asGroups,
    "ROWS of type BIGINT" -> longRows,
    "the frame unspecifiedframe$()" -> (_ => UnspecifiedFrame)
  )

  private def windowOf(plan: LogicalPlan, change: SpecifiedWindowFrame => WindowFrame): Window =
    plan
      .collectFirst { case w: Window => w }
      .get
      .transformExpressions { case s: WindowSpecDefinition =>
        s.copy(frameSpecification =
          change(s.frameSpecification.asInstanceOf[SpecifiedWindowFrame])
        )
      }
      .asInstanceOf[Window]

  for ((what, change) <- changes) {
    test(s"$what are left to Spark") {
      val query = "SELECT sum(id) OVER (ORDER BY id ROWS 2 PRECEDING) FROM range(9)"
      val window = windowOf(spark.sql(query).queryExecution.analyzed, change)
      assert(SlidingWindowStrategy(spark)(window).isEmpty)
      val refused = window.getTagValue(Refusal.Tag).toSeq.flatten.map(_._2.reason)
      assert(refused == Seq(s"this Spark has $what, which Sash does not know"))
    }

    test(s"$what are refused on a stream") {
      val watermark =
        new MetadataBuilder().putLong(EventTimeWatermark.delayKey, 0L).build()
      val ts = AttributeReference("ts", TimestampType, nullable = true, watermark)()
      val x = AttributeReference("x", LongType)()
      val rows = LocalRelation(Seq(ts, x), Nil, isStreaming = true)
      val frame = change(SpecifiedWindowFrame(RowFrame, Literal(-3), CurrentRow))
      val order = Seq(SortOrder(ts, Ascending))
      val call = WindowExpression(
        aggregate.Sum(x).toAggregateExpression(),
        WindowSpecDefinition(Nil, order, frame)
      )
      val window = Window(Seq(Alias(call, "s")()), Nil, order, rows)
      if (window.resolved) {
        val error = intercept[AnalysisException](StreamWindows(window))
        assert(error.getMessage.contains(s"this Spark has $what, which Sash does not know"))
      } else assert(StreamWindows(window) eq window)
    }
  }

  test("their frames have a text") {
    val frame = SpecifiedWindowFrame(groups, Literal(-3), CurrentRow)
    assert(FrameSourceText(frame) == "GROUPS BETWEEN 3 PRECEDING AND CURRENT ROW")
    val spec = WindowSpecDefinition(Nil, Nil, UnspecifiedFrame)
    assert(WindowCall.textOf(WindowExpression(Literal(1), spec)) == "1 unspecifiedframe$()")
  }
}
