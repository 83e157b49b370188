package io.sash.spark.lateral

import scala.util.Right

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{First, Last}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{AsOfJoin, LocalRelation}
import org.apache.spark.sql.types._

import org.scalatest.funsuite.AnyFunSuite

/** The direction of as-of joins as Spark 4.3 makes them of `MATCH_CONDITION`. */
final class AsOfSuite extends AnyFunSuite {
  private val ofStrings: DataType = StructType.fromDDL("a STRING, b INT")
  private val ofNulls: DataType = StructType.fromDDL("a INT, b INT")
  private val ofNumbers: DataType = StructType.fromDDL("a INT NOT NULL, b INT")

  private def joinBy(
      dataType: DataType,
      operator: (Expression, Expression) => Expression,
      distance: (Expression, Expression) => Expression
  ): AsOfJoin = {
    val Seq(left, right) = Seq("s", "s").map(AttributeReference(_, dataType)())
    val condition = operator(left, right)
    val tables = Seq(left, right).map(LocalRelation(_))
    AsOfJoin(tables.head, tables(1), condition, None, Inner, distance(left, right), None)
  }

  /** Distances whose first child is of either side, or of none. */
  private val distances: Seq[(Expression, Expression) => Expression] = Seq(
    Subtract(_, _),
    (left, right) => Subtract(right, left),
    (left, right) => If(EqualTo(left, right), Literal(0), Literal(1)),
    (left, right) => CreateNamedStruct(Seq(Literal("col1"), Subtract(left, right)))
  )

  private def isLast(join: AsOfJoin): Either[String, Boolean] = AsOf.of(join).map { asOf =>
    asOf.steps.head.query.calls.map(_.aggregateFunction) match {
      case Seq(_: Last)  => true
      case Seq(_: First) => false
      case other         => fail(other.toString)
    }
  }

  private val back: Seq[(Expression, Expression) => Expression] =
    Seq(GreaterThan(_, _), GreaterThanOrEqual(_, _))
  private val ahead: Seq[(Expression, Expression) => Expression] =
    Seq(LessThan(_, _), LessThanOrEqual(_, _))

  for (t <- Seq(IntegerType, StringType, BooleanType, ArrayType(IntegerType), ofStrings))
    test(s"the match condition says the direction: ${t.sql}") {
      for (distance <- distances) {
        for (operator <- back) assert(isLast(joinBy(t, operator, distance)) == Right(true))
        for (operator <- ahead)
          if (t != ofStrings && !t.isInstanceOf[ArrayType])
            assert(isLast(joinBy(t, operator, distance)) == Right(false))
      }
    }

  test("ahead, the row with the smallest differences may not be the first") {
    for (operator <- ahead) {
      def asked(t: DataType) = isLast(joinBy(t, operator, distances.last))
      for (t <- Seq(ofStrings, ofNulls, ArrayType(IntegerType)))
        assert(asked(t).left.exists(_.contains("need not be the first one")), t)
      assert(asked(ofNumbers) == Right(false))
    }
  }

  test("a condition that compares the sides in no direction") {
    val made = joinBy(IntegerType, EqualTo(_, _), distances.head)
    assert(isLast(made).left.exists(_.contains("does not compare the left rows")))
  }
}
