package io.sash.spark

import java.math.{BigDecimal => Decimal}
import java.time.{Duration, Instant, LocalDate, Period}

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.types._

/**
 * A table with a column of each type that windows aggregate or order by, with nulls, ties, a
 * group that holds half of the rows and groups of one row. `id` is unique; so is `uq`, in
 * another order.
 */
object TestTable {
  val Name = "data"

  private val schema = StructType(
    Seq(
      StructField("id", IntegerType, nullable = false),
      StructField("uq", IntegerType, nullable = false),
      StructField("g", IntegerType),
      StructField("g2", StringType),
      StructField("tie", IntegerType),
      StructField("b", ByteType),
      StructField("h", ShortType),
      StructField("i", IntegerType),
      StructField("l", LongType),
      StructField("f", FloatType),
      StructField("d", DoubleType),
      StructField("x", DoubleType),
      StructField("small", DecimalType(10, 2)),
      StructField("large", DecimalType(38, 10)),
      StructField("s", StringType),
      StructField("bin", BinaryType),
      StructField("bo", BooleanType),
      StructField("dt", DateType),
      StructField("ts", TimestampType),
      StructField("ym", YearMonthIntervalType()),
      StructField("dti", DayTimeIntervalType())
    )
  )

  /** Makes the table, once a session, and answers it. */
  def create(spark: SparkSession): DataFrame = {
    if (!spark.catalog.tableExists(Name)) {
      val rows = spark.sparkContext.parallelize(generate(200, seed = 7L), 3)
      spark
        .createDataFrame(rows, schema)
        .selectExpr(
          "*",
          "s COLLATE UTF8_LCASE AS sc",
          "CAST(ts AS TIMESTAMP_NTZ) AS tn",
          "IF(i IS NULL, NULL, named_struct('a', i, 'b', s)) AS st",
          "IF(h IS NULL, NULL, array(i, h)) AS ar"
        )
        .localCheckpoint()
        .createOrReplaceTempView(Name)
    }
    spark.table(Name)
  }

  private def generate(count: Int, seed: Long): Seq[Row] = {
    val random = new Random(seed)
    val permutation = random.shuffle((0 until count).toList).toArray
    (0 until count).map(id => row(id, permutation(id), random))
  }

  private def row(id: Int, unique: Int, random: Random): Row = {
    def nullable(percent: Int)(value: => Any): Any =
      if (random.nextInt(100) < percent) null else value
    def pick(values: Any*): Any = values(random.nextInt(values.length))
    // the hours around both changes of the clock in 2020, in Europe/Berlin
    val changes = Seq("2020-03-29T01:00:00Z", "2020-10-25T01:00:00Z").map(Instant.parse)
    def instant: Instant =
      changes(random.nextInt(2)).plusSeconds(900L * (random.nextInt(400) - 200))
    val group = if (id < 4) 100 + id else if (random.nextBoolean()) 0 else random.nextInt(5)
    Row(
      id,
      unique,
      nullable(10)(group),
      nullable(10)(pick("left", "right")),
      nullable(10)(random.nextInt(12)),
      nullable(10)((random.nextInt(200) - 100).toByte),
      nullable(10)((random.nextInt(60) - 30).toShort),
      nullable(20)(random.nextInt(40) - 20),
      nullable(10)(random.nextLong() >> 40),
      nullable(10)(
        pick(0.0f, -0.0f, Float.NaN, Float.NegativeInfinity, random.nextInt(9) / 2.0f, 1.5f)
      ),
      nullable(10)(
        pick(0.0, -0.0, Double.NaN, Double.PositiveInfinity, random.nextInt(9) / 4.0, -1.25)
      ),
      nullable(10)(0.5 + 1.5 * random.nextDouble()),
      nullable(10)(Decimal.valueOf(random.nextInt(2000).toLong - 1000L, 2)),
      nullable(10)(new Decimal(random.nextLong()).multiply(Decimal.valueOf(12345678L, 10))),
      nullable(10)(pick("a", "A", "b", "B", "", "ä", "Z" * 20)),
      nullable(10)(Array.fill(random.nextInt(3))(random.nextInt().toByte)),
      nullable(20)(random.nextBoolean()),
      nullable(10)(LocalDate.of(2020, 1, 25).plusDays(random.nextInt(60).toLong)),
      nullable(10)(instant),
      nullable(10)(Period.ofMonths(random.nextInt(30) - 15)),
      nullable(10)(Duration.ofMinutes(random.nextInt(4000).toLong - 2000L))
    )
  }
}
