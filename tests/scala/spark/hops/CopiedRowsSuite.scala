package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Expand, Filter}

/** An Expand is taken for hops just if Spark's analyzer made it. */
class CopiedRowsSuite extends HopChecks {
  private def copies(window: String): Filter = {
    events.createOrReplaceTempView("events")
    spark
      .sql(s"SELECT count(*) FROM events GROUP BY k, $window")
      .queryExecution
      .analyzed
      .collectFirst { case a: Aggregate => a.child }
      .collect { case f: Filter => f }
      .get
  }

  private def windows(plan: Filter): Option[HopPanes] = CopiedRows.of(plan).map(_.hops)

  private def expand(plan: Filter): Expand = plan.child.asInstanceOf[Expand]

  private def changed(plan: Filter)(change: Seq[Seq[Expression]] => Seq[Seq[Expression]]) =
    windows(plan.copy(child = expand(plan).copy(projections = change(expand(plan).projections))))

  private val whole = "window(ts, '30 seconds', '10 seconds', '3 seconds')"
  private val pairs = "window(ts, '35 seconds', '10 seconds')"

  test("what Spark made is known again") {
    for ((window, hops) <- Seq(whole -> ((30, 10, 3)), pairs -> ((35, 10, 0)))) {
      val HopPanes(size, slide, start, _) = windows(copies(window)).get
      assert((size, slide) == (hops._1 * 1000000L, hops._2 * 1000000L))
      assert((start - hops._3 * 1000000L) % slide == 0)
    }
  }

  for (window <- Seq(whole, pairs)) {
    test(s"another expression in any copy is not taken: $window") {
      val plan = copies(window)
      for (i <- expand(plan).projections.indices) {
        val literals = expand(plan)
          .projections(i)
          .head
          .collect { case l @ Literal(_: Long, _) =>
            l
          }
          .distinct
        for (l <- literals) {
          val other = Literal(l.value.asInstanceOf[Long] + 1)
          val hops = changed(plan)(all =>
            all.updated(i, all(i).updated(0, all(i).head.transform { case `l` => other }))
          )
          assert(hops.isEmpty, s"copy $i with $other for $l")
        }
      }
    }

    test(s"copies in another order, fewer, more, or with other columns are not taken: $window") {
      val plan = copies(window)
      assert(changed(plan)(_.reverse).isEmpty)
      assert(changed(plan)(_.init).isEmpty)
      assert(changed(plan)(all => all :+ all.last).isEmpty)
      assert(changed(plan)(all => all.updated(1, all(1).init :+ Literal("other"))).isEmpty)
    }

    test(s"another condition is not taken: $window") {
      val plan = copies(window)
      assert(windows(plan).nonEmpty)
      assert(windows(plan.copy(condition = Literal.TrueLiteral)).isEmpty)
      assert(
        windows(plan.copy(condition = And(plan.condition, IsNotNull(plan.output(1))))).isEmpty
      )
      assert(windows(plan.copy(condition = IsNotNull(plan.output(1)))).isEmpty)
    }
  }
}
