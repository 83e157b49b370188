package io.sash.spark

import java.io.File
import java.nio.file.Files

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

import org.scalatest.tags.Slow

/**
 * The tables of docs/who-runs-what.md that cross functions and windows are those that Spark's
 * planner gives. `make who-runs-what` writes them.
 */
@Slow
class WhoRunsWhatSuite extends WhoRunsWhat {
  import WhoRunsWhat._

  private val file = {
    val here = Iterator.iterate(new File("").getCanonicalFile)(_.getParentFile)
    here.map(new File(_, "docs/who-runs-what.md")).find(_.exists).get.toPath
  }
  private val page = Files.readString(file)
  private val Begin = "<!-- written by make who-runs-what -->\n\n"
  private val End = "\n<!-- end -->"

  private val functions = lines(page, "Positions and ranks") ++ lines(page, "Aggregates")

  private def over(line: Line, clause: String) =
    line.copy(codes =
      line.codes.map(c => s"SELECT k, ts, {} OVER (${clause.replace("{}", c)}) AS a FROM events")
    )

  private val hops =
    """SELECT k, w, {} AS a
      |FROM (SELECT *, window(ts, '10 seconds', '2 seconds') AS w FROM events)
      |GROUP BY k, w""".stripMargin

  private val lateral =
    """SELECT l.k, l.ts, a FROM events l, LATERAL (SELECT {} AS a FROM events e
      |  WHERE e.k = l.k AND e.ts <= l.ts AND e.ts >= l.ts - INTERVAL 5 SECONDS)""".stripMargin

  /** Queries in which a function takes the place of the braces. */
  private val windows =
    Seq(over(Line("ORDER BY alone", Seq("")), "PARTITION BY k ORDER BY ts")) ++
      lines(page, "Frames").map(over(_, "PARTITION BY k ORDER BY ts {}")) ++
      lines(page, "Kinds of window").map(over(_, "PARTITION BY k, {} ORDER BY ts")) ++
      Seq(Line("hop windows", Seq(hops)), Line("LATERAL over a range", Seq(lateral)))

  private lazy val batch = {
    val batches = StreamSuite.batches(1, count = 2, size = 20, jitterSeconds = 5, keys = 2)
    spark.createDataFrame(batches.flatten)
  }

  private lazy val stream =
    MemoryStream[Event](Encoders.product[Event], spark).toDF().withWatermark("ts", "1 second")

  private def answers(function: String, query: String): Seq[Answer] =
    streaming()(ask(query.replace("{}", function), batch, stream))

  private lazy val ofFirst = windows.map { window =>
    window.name -> functions.map(f => answers(f.codes.head, window.codes.head))
  }

  test("the tables are those of the code", Thorough) {
    val text = tables(functions.map(_.name), columns(ofFirst))
    val (before, after) = (page.indexOf(Begin) + Begin.length, page.indexOf(End))
    if (sys.env.contains("SASH_WRITE_PAGE"))
      Files.writeString(file, page.take(before) + text + page.drop(after))
    else assert(page.slice(before, after) == text, "make who-runs-what writes the tables")
  }

  test("each piece of code has the answers of the first one in its line", Thorough) {
    val others = for {
      (window, (_, expected)) <- windows.zip(ofFirst)
      (line, first) <- functions.zip(expected)
      query <- window.codes
      function <- line.codes
      signs = answers(function, query).map(_.sign)
      if signs != first.map(_.sign)
    } yield s"${window.name}, $query, $function: $signs"
    assert(others.isEmpty, others.mkString("\n"))
  }
}
