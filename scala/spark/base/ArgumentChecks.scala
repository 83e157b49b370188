package io.sash.spark.base

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{
  DataTypeMismatch,
  TypeCheckFailure,
  TypeCheckSuccess
}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

/** Checks arguments of functions and kinds, and reports errors under Spark's own conditions. */
private[spark] object ArgumentChecks {
  private val Extents = "(\"NUMERIC\" or \"INTERVAL\")"

  /** The first failure, or success. */
  def inTurn(checks: TypeCheckResult*): TypeCheckResult =
    checks.find(_.isFailure).getOrElse(TypeCheckSuccess)

  /** Checks a constant number of rows or groups. */
  def checkCount(name: String, e: Expression, least: Int): TypeCheckResult =
    e.dataType match {
      case integer if isInteger(integer) =>
        checkConstant(name, e, s"[$least, ${Int.MaxValue}]") { value =>
          val count = value.asInstanceOf[Number].longValue
          count >= least && count <= Int.MaxValue
        }
      case _ => unexpectedType(name, e, "\"INT\"")
    }

  /** Checks a constant distance between two values of an order or an attribute. */
  def checkExtent(name: String, e: Expression, positive: Boolean): TypeCheckResult =
    e.dataType match {
      case _: NumericType | _: YearMonthIntervalType | _: DayTimeIntervalType |
          CalendarIntervalType =>
        checkConstant(name, e, if (positive) "(0, infinity]" else "[0, infinity]") { value =>
          !isNaN(value) &&
          (if (positive) sign(value, e.dataType) > 0 else sign(value, e.dataType) >= 0)
        }
      case _ => unexpectedType(name, e, Extents)
    }

  /** Checks a constant number that is more than 0 and at most 1. */
  def checkShare(name: String, e: Expression): TypeCheckResult = e.dataType match {
    case _: NumericType =>
      checkConstant(name, e, "(0, 1]") { value =>
        val share = Cast(Literal(value, e.dataType), DoubleType).eval().asInstanceOf[Double]
        share > 0 && share <= 1
      }
    case _ => unexpectedType(name, e, "\"NUMERIC\"")
  }

  def isInteger(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType => true
    case _                                             => false
  }

  def isInterval(dataType: DataType): Boolean = dataType match {
    case _: YearMonthIntervalType | _: DayTimeIntervalType | CalendarIntervalType => true
    case _                                                                        => false
  }

  /** Checks the type of a distance in an order, which may differ per row. */
  def checkExtentType(name: String, e: Expression): TypeCheckResult = e.dataType match {
    case _: NumericType                   => TypeCheckSuccess
    case interval if isInterval(interval) => TypeCheckSuccess
    case _                                => unexpectedType(name, e, Extents)
  }

  /** Checks a constant interval of time, which has to be greater than 0. */
  def checkInterval(name: String, e: Expression): TypeCheckResult = e.dataType match {
    case interval if isInterval(interval) => checkExtent(name, e, positive = true)
    case _                                => unexpectedType(name, e, "(\"INT\" or \"INTERVAL\")")
  }

  /** Checks that a constant string is one of a few names. */
  def checkOneOf(name: String, e: Expression, names: Seq[String]): TypeCheckResult =
    e.dataType match {
      case _: StringType =>
        checkConstant(name, e, names.map(n => s"'$n'").mkString("one of ", ", ", "")) { value =>
          names.exists(_.equalsIgnoreCase(value.toString))
        }
      case _ => unexpectedType(name, e, "\"STRING\"")
    }

  def checkFlag(name: String, e: Expression): TypeCheckResult =
    if (e.dataType == BooleanType) checkConstant(name, e, "true or false")(_ => true)
    else unexpectedType(name, e, "\"BOOLEAN\"")

  /**
   * Checks that `extent` can be subtracted from `attribute`, by their types.
   *
   * @param remedy the end of the error, by the type of `attribute`
   */
  def checkDifference(
      attribute: Expression,
      extent: Expression,
      remedy: DataType => String = withRemedy
  ): TypeCheckResult =
    (attribute.dataType, extent.dataType) match {
      case (_: NumericType, _: NumericType)                                 => TypeCheckSuccess
      case (TimeUnit(TimeUnit.Day), IntegerType | _: YearMonthIntervalType) => TypeCheckSuccess
      case (
            TimeUnit(TimeUnit.Day),
            DayTimeIntervalType(DayTimeIntervalType.DAY, DayTimeIntervalType.DAY)
          ) =>
        TypeCheckSuccess
      case (
            TimeUnit(TimeUnit.Micro),
            _: YearMonthIntervalType | _: DayTimeIntervalType | CalendarIntervalType
          ) =>
        TypeCheckSuccess
      case (_: YearMonthIntervalType, _: YearMonthIntervalType) => TypeCheckSuccess
      case (_: DayTimeIntervalType, _: DayTimeIntervalType)     => TypeCheckSuccess
      case (of, by) =>
        TypeCheckFailure(
          s"from ${attribute.sql}, of type ${quoted(of)}, no ${quoted(by)} can be subtracted" +
            remedy(of)
        )
    }

  def unexpectedType(
      name: String,
      e: Expression,
      required: String,
      remedy: String = ""
  ): TypeCheckResult =
    DataTypeMismatch(
      "UNEXPECTED_INPUT_TYPE",
      Map(
        "paramIndex" -> s"`$name`",
        "requiredType" -> required,
        "inputSql" -> s"\"${e.sql}\"",
        "inputType" -> (quoted(e.dataType) + remedy)
      )
    )

  /** `unexpectedType` for a time. If another type of times would do, the error says so. */
  def unexpectedTime(name: String, e: Expression, required: String): TypeCheckResult =
    unexpectedType(name, e, required, withRemedy(e.dataType))

  private def withRemedy(of: DataType): String = TimeUnit.remedy(of).fold("")("; " + _)

  private def checkConstant(name: String, e: Expression, range: String)(
      isRight: Any => Boolean
  ): TypeCheckResult =
    if (!e.foldable) {
      DataTypeMismatch(
        "NON_FOLDABLE_INPUT",
        Map(
          "inputName" -> s"`$name`",
          "inputType" -> quoted(e.dataType),
          "inputExpr" -> s"\"${e.sql}\""
        )
      )
    } else {
      val value = e.eval()
      if (value != null && isRight(value)) TypeCheckSuccess
      else
        DataTypeMismatch(
          "VALUE_OUT_OF_RANGE",
          Map("exprName" -> s"`$name`", "valueRange" -> range, "currentValue" -> e.sql)
        )
    }

  private def isNaN(value: Any): Boolean = value match {
    case d: Double => d.isNaN
    case f: Float  => f.isNaN
    case _         => false
  }

  private def sign(value: Any, dataType: DataType): Int = value match {
    case i: CalendarInterval =>
      val parts = Seq(i.months.toLong, i.days.toLong, i.microseconds).map(java.lang.Long.signum)
      if (parts.contains(-1)) -1 else parts.max
    case _ =>
      val zero = Literal(Literal.default(dataType).value, dataType)
      val number = Literal(value, dataType)
      if (GreaterThan(number, zero).eval() == true) 1
      else if (EqualTo(number, zero).eval() == true) 0
      else -1
  }

  private def quoted(dataType: DataType): String = s"\"${dataType.sql}\""
}
