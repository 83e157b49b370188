package io.sash.spark.lateral

import scala.annotation.nowarn

import org.apache.spark.sql.Row
import org.apache.spark.sql.expressions.{MutableAggregationBuffer, UserDefinedAggregateFunction}
import org.apache.spark.sql.types.{DataType, LongType, StructType}

/** A user's aggregate of Spark's first kind in a correlated subquery. */
final class OwnAggregateSuite extends LateralSuite {

  @nowarn("cat=deprecation")
  private object Rows extends UserDefinedAggregateFunction {
    override def inputSchema: StructType = new StructType().add("x", LongType)
    override def bufferSchema: StructType = new StructType().add("n", LongType)
    override def dataType: DataType = LongType
    override def deterministic: Boolean = true
    override def initialize(buffer: MutableAggregationBuffer): Unit = buffer(0) = 0L
    override def update(buffer: MutableAggregationBuffer, row: Row): Unit =
      buffer(0) = buffer.getLong(0) + 1
    override def merge(left: MutableAggregationBuffer, right: Row): Unit =
      left(0) = left.getLong(0) + right.getLong(0)
    override def evaluate(buffer: Row): Any = buffer.getLong(0)
  }

  @nowarn("cat=deprecation")
  private def register(): Unit = spark.udf.register("rows_of", Rows): Unit

  test("it is NULL for a label without events, as in Spark") {
    register()
    spark.sql("SELECT id, id % 3 AS k, id AS ts FROM range(9)").createOrReplaceTempView("l")
    spark.sql("SELECT id % 2 AS k, id AS ts FROM range(12)").createOrReplaceTempView("e")
    val events = "SELECT rows_of(e.ts) AS n FROM e WHERE e.k = l.k AND e.ts < l.ts"
    checkWindows(s"SELECT l.id, f.n FROM l, LATERAL ($events) f")
    checkWindows(s"SELECT l.id, ($events) AS n FROM l")
  }
}
