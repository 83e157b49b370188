package io.sash.spark.base

import java.io.File
import java.util.jar.JarFile

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Literal}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import io.sash.spark.multisets.OrderedLong
import io.sash.spark.slots.UserTypes

/** Every type of Spark's is a time of some unit, or none. */
class TimeUnitSuite extends AnyFunSuite {
  private val types = "org.apache.spark.sql.types"

  private val times: Map[String, TimeUnit] = Map(
    "DateType" -> TimeUnit.Day,
    "TimestampType" -> TimeUnit.Micro,
    "TimestampNTZType" -> TimeUnit.Micro,
    "TimeType" -> TimeUnit.NanoOfDay
  )

  /** The atomic types of this Spark, found among its classes. */
  private lazy val atomic: Seq[(String, DataType)] = {
    val source = new File(classOf[DataType].getProtectionDomain.getCodeSource.getLocation.toURI)
    val names = new JarFile(source).entries.asScala.map(_.getName).collect {
      case s"org/apache/spark/sql/types/${name}Type.class" if !name.contains("$") =>
        s"${name}Type"
    }
    val found = for {
      name <- names.toSeq.sorted
      of <- instance(name)
      isOfThisName = of.getClass.getSimpleName.stripSuffix("$") == name // no group of types
      if isOfThisName && Class.forName(s"$types.AtomicType").isInstance(of)
    } yield name -> of
    found
  }

  private def instance(name: String): Option[DataType] = {
    def module = {
      val c = Class.forName(s"$types.$name$$")
      c.getField("MODULE$").get(null)
    }
    def call(method: String, arguments: (Class[_], AnyRef)*) = Try {
      val of = module.getClass.getMethod(method, arguments.map(_._1): _*)
      of.invoke(module, arguments.map(_._2): _*).asInstanceOf[DataType]
    }
    Try(module.asInstanceOf[DataType])
      .orElse(call("defaultConcreteType"))
      .orElse(call("apply"))
      .orElse(call("apply", Integer.TYPE -> Integer.valueOf(6)))
      .orElse(call("apply", classOf[String] -> "ANY"))
      .toOption
  }

  test("this Spark's times are known by their units, and nothing else is a time") {
    val datetime = Class.forName(s"$types.DatetimeType")
    val known: Set[String] =
      times.keySet ++ Set("LongType", "StringType", "DecimalType", "BooleanType")
    assert(known.diff(atomic.map(_._1).toSet).isEmpty)
    for ((name, of) <- atomic) withClue(name) {
      assert(TimeUnit.of(of) == times.get(name))
      assert(datetime.isInstance(of) == times.contains(name))
    }
  }

  test("timestamps of nanoseconds, which Spark has since 4.3, are known by their names") {
    for (name <- Seq("timestamp_ntz(9)", "timestamp_ltz(7)"))
      assert(TimeUnit.of(UserTypes.Named(name)).contains(TimeUnit.Nano))
    for (name <- Seq("timestamp_ntz", "varchar(9)", "decimal(9,0)", "time"))
      assert(TimeUnit.of(UserTypes.Named(name)).isEmpty)
  }

  test("a time that Sash does not count with has a remedy, and no other type has") {
    for ((name, of) <- atomic) withClue(name) {
      assert(TimeUnit.remedy(of).nonEmpty == (name == "TimeType"))
    }
    def remedy(name: String) = TimeUnit.remedy(UserTypes.Named(name)).get
    assert(remedy("timestamp_ntz(9)").contains("cast it to TIMESTAMP_NTZ,"))
    assert(remedy("timestamp_ltz(9)").contains("cast it to TIMESTAMP,"))
  }

  test("a long holds a number, an interval and a time, but no timestamp of nanoseconds") {
    val inOneLong = Set(
      "ByteType",
      "ShortType",
      "IntegerType",
      "LongType",
      "FloatType",
      "DoubleType",
      "DayTimeIntervalType",
      "YearMonthIntervalType"
    ) ++ times.keySet
    for ((name, of) <- atomic) withClue(name)(assert(OrderedLong.accepts(of) == inOneLong(name)))
    assert(!OrderedLong.accepts(UserTypes.Named("timestamp_ntz(9)")))
  }

  test("no distance is subtracted from another type than a number, a day or a microsecond") {
    val hour = Literal.create(3600000000L, DayTimeIntervalType())
    val nanos = UserTypes.Named("timestamp_ntz(9)")
    for ((name, of) <- atomic :+ ("TimestampNTZNanosType" -> nanos)) withClue(name) {
      val time = AttributeReference("t", of)()
      val isTime = Set("TimestampType", "TimestampNTZType", "DayTimeIntervalType")(name)
      assert(ArgumentChecks.checkDifference(time, hour).isSuccess == isTime)
    }
  }
}
