package io.sash.spark.names

import org.apache.spark.sql.execution.HiveResult

import io.sash.spark.SashSuite
import io.sash.spark.kinds.WindowKindFunctions

/** What DESCRIBE FUNCTION EXTENDED says of each function is so. */
class ExamplesSuite extends SashSuite {

  /** The queries of a description, each with the answer that stands below it. */
  private def examples(described: String): Seq[(String, String)] = {
    val text = described.substring(described.indexOf("Examples:"))
    val lines = text.linesIterator.drop(1).toSeq.takeWhile(_.startsWith("      "))
    lines.foldLeft(Seq.empty[(String, String)]) { (made, line) =>
      if (line.startsWith("      > ")) made :+ ((line.drop(8).stripSuffix(";"), ""))
      else made.init :+ ((made.last._1, (made.last._2 + "\n" + line.drop(7)).stripPrefix("\n")))
    }
  }

  for (function <- AllSashFunctions.All ++ WindowKindFunctions.All) test(function.name) {
    val described = spark
      .sql(s"DESCRIBE FUNCTION EXTENDED ${function.name}")
      .collect()
      .map(_.getString(0))
      .mkString("\n")
    assert(described.contains(function.usage))
    function.arguments.foreach { case (name, meaning) =>
      assert(described.contains(s"* $name - $meaning"))
    }
    val shown = examples(described)
    assert(shown.nonEmpty && shown.length == function.examples.length)
    shown.foreach { case (query, answer) =>
      val rows = HiveResult.hiveResultString(spark.sql(query).queryExecution.executedPlan)
      assert(rows.mkString("\n") == answer, query)
    }
  }

  test("no function of Spark's is replaced") {
    val builtin = org.apache.spark.sql.catalyst.analysis.FunctionRegistry.functionSet
    (AllSashFunctions.All ++ WindowKindFunctions.All).foreach { f =>
      assert(!builtin.exists(_.funcName.equalsIgnoreCase(f.name)), f.name)
    }
  }
}
