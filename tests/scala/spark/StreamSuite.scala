package io.sash.spark

import java.nio.file.Files
import java.sql.Timestamp

import scala.collection.mutable
import scala.reflect.io.Directory
import scala.util.Random

import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TransformWithState}
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.streaming.runtime.{MemoryStream, StreamingQueryWrapper}
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery, Trigger}

import io.sash.spark.streams.plan.OfBuckets
import io.sash.spark.streams.start.StreamingWrite
import io.sash.spark.streams.task.BucketProcessor

/** One row of the streams of tests. */
case class Event(
    id: Long,
    k: Option[Int],
    ts: Option[Timestamp],
    x: Option[Int],
    d: Double,
    s: String
)

/** Runs a query over a stream, batch by batch, and over the same rows at once. */
trait StreamSuite extends SashSuite {
  import StreamSuite._

  /** State in RocksDB, of which small tests need few stores. */
  protected def streaming[T](settings: (String, String)*)(body: => T): T =
    withSettings(
      Seq(
        "spark.sql.streaming.stateStore.providerClass" ->
          "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "spark.sql.shuffle.partitions" -> "2",
        "spark.sash.stream.buckets" -> "8"
      ) ++ settings: _*
    )(body)

  protected def inDirectory[T](body: String => T): T = {
    val directory = Files.createTempDirectory("sash-stream")
    try body(directory.toString)
    finally Directory(directory.toFile).deleteRecursively()
  }

  /** A source of events, and the queries over it that come and go with one checkpoint. */
  protected final class Source(
      delay: String,
      val checkpoint: String,
      mode: OutputMode = OutputMode.Append(),
      isOurs: Boolean = true
  ) {
    private val events = MemoryStream[Event](Encoders.product[Event], spark)
    val answers = mutable.LinkedHashMap.empty[Long, Seq[Row]]
    private var query: StreamingQuery = _
    private var isToFail = false

    /** The sink fails with the next batch. */
    def failNext(): Unit = isToFail = true

    def frame: DataFrame = events.toDF().withWatermark("ts", delay)

    def start(of: DataFrame => DataFrame, mode: OutputMode = mode): StreamingQuery = {
      val write: (DataFrame, Long) => Unit = (rows, id) => {
        val fails = isToFail
        isToFail = false
        answers(id) = rows.collect().toSeq
        if (fails) throw new IllegalStateException("as it was asked to")
      }
      query = of(frame).writeStream
        .option("checkpointLocation", checkpoint)
        .trigger(Trigger.ProcessingTime(0))
        .outputMode(mode)
        .foreachBatch(write)
        .start()
      query
    }

    private def checkOurs(): Unit = {
      val plan = execution.analyzed
      val found = plan.exists {
        case t: TransformWithState => (t.statefulProcessor: Any).isInstanceOf[BucketProcessor]
        case _                     => false
      }
      assert(found == isOurs, s"vacuous: $plan")
    }

    def execution: QueryExecution =
      query.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution

    def add(batch: Seq[Event]): Unit = {
      events.addData(batch)
      query.processAllAvailable()
      checkOurs()
    }

    def stop(): Unit = query.stop()

    /** All answers so far, in the order in which they came. */
    def rows: Seq[Row] = answers.values.flatten.toSeq
  }

  /** A source, and a checkpoint for it. */
  protected def withSource(delay: String)(body: Source => Unit): Unit =
    streaming()(inDirectory(checkpoint => body(new Source(delay, checkpoint))))

  /**
   * Runs the query, batch by batch.
   *
   * @param later settings of the runs after the first
   * @return how many rows there are after each batch
   */
  protected def run(
      source: Source,
      batches: Seq[Seq[Event]],
      restartBefore: Set[Int],
      later: Seq[(String, String)] = Nil
  )(query: DataFrame => DataFrame): Seq[Int] = {
    source.start(query)
    val counts = batches.zipWithIndex.map { case (batch, i) =>
      if (restartBefore(i)) {
        source.stop()
        withSettings(later: _*)(source.start(query))
      }
      source.add(batch)
      source.rows.length
    }
    source.stop()
    counts
  }

  /**
   * The stream gives what the batch gives over the rows that were not late: after each batch, as
   * far as the watermark has come.
   *
   * @param answered which of the rows of a k, in order, have an answer at a watermark, in milliseconds
   * @param atOnce whether each batch gives them at once; if not, all of them together are looked at
   * @param later settings of the runs after the first
   */
  protected def checkStream(
      batches: Seq[Seq[Event]],
      delaySeconds: Int,
      restartBefore: Set[Int] = Set.empty,
      answered: (Seq[Event], Long) => Seq[Event] = StreamSuite.passed,
      atOnce: Boolean = true,
      later: Seq[(String, String)] = Nil
  )(query: DataFrame => DataFrame): Unit = inDirectory { checkpoint =>
    val source = new Source(s"$delaySeconds seconds", checkpoint)
    val rowsAfter = run(source, batches, restartBefore, later)(query)
    val (inTime, _) = onTime(batches, delaySeconds)
    val batch = query(spark.createDataFrame(inTime))
    val schema = query(source.frame).schema
    assert(batch.schema.map(f => (f.name, f.dataType)) == schema.map(f => (f.name, f.dataType)))
    // a column may have been NULL when a row came into the state
    assert(batch.schema.zip(schema).forall { case (b, s) => s.nullable || !b.nullable })
    val all = batch.collect().toSeq
    def known(count: Int): Set[Long] = {
      val (rows, watermark) = onTime(batches.take(count), delaySeconds)
      rows.groupBy(_.k).values.flatMap(r => answered(inOrder(r), watermark)).map(_.id).toSet
    }
    val passed = known(batches.length)
    val expected = all.filter(r => passed(r.getLong(0)))
    // but for the watermark in its metadata, and what may be NULL, the schema is the same
    val actual = source.rows.map(r => new GenericRowWithSchema(r.toSeq.toArray, batch.schema))
    val difference = RowEquality.difference(expected, actual)
    assert(difference.isEmpty, difference.getOrElse(""))
    assert(expected.nonEmpty, "vacuous: no answer")
    val ids = expected.map(_.getLong(0)).toSet
    if (atOnce) batches.indices.foreach { i =>
      assert(
        actual.take(rowsAfter(i)).map(_.getLong(0)).toSet == ids.intersect(known(i + 1)),
        s"batch $i"
      )
    }
  }

  /**
   * Each batch gives what it gives with Spark's own hops.
   *
   * @param isOurs whether Sash's operators answer them
   * @param alike other queries of the same answers, which Sash answers, too
   */
  protected def checkHops(
      batches: Seq[Seq[Event]],
      delay: String = "15 seconds",
      mode: OutputMode = OutputMode.Append(),
      isOurs: Boolean = true,
      later: Seq[(String, String)] = Nil,
      alike: Seq[DataFrame => DataFrame] = Nil
  )(query: DataFrame => DataFrame): Unit = {
    def answers(on: Boolean)(query: DataFrame => DataFrame) =
      withSettings("spark.sash.hops.enabled" -> on.toString) {
        inDirectory { checkpoint =>
          val source = new Source(delay, checkpoint, mode, isOurs = on && isOurs)
          run(source, batches, restartBefore = if (Thorough.isOn) Set(2, 4) else Set(2), later)(
            query
          )
          source.answers.values.toSeq
        }
      }
    val theirs = answers(on = false)(query)
    assert(theirs.flatten.nonEmpty, "vacuous: no answer")
    (query +: alike).foreach(q => compare(answers(on = true)(q), theirs))
  }

  private def compare(ours: Seq[Seq[Row]], theirs: Seq[Seq[Row]]): Unit = {
    assert(ours.length == theirs.length)
    ours.zip(theirs).zipWithIndex.foreach { case ((o, t), i) =>
      val schema = t.headOption.map(_.schema)
      val rows =
        o.map(r => schema.fold(r)(s => new GenericRowWithSchema(r.toSeq.toArray, s): Row))
      val difference = RowEquality.difference(t, rows)
      assert(difference.isEmpty, s"batch $i: ${difference.getOrElse("")}")
    }
  }

  /**
   * Each batch answers those rows whose answer in a batch over all rows so far, but for late ones,
   * is not their last one.
   */
  protected def checkUpdates(
      batches: Seq[Seq[Event]],
      delaySeconds: Int,
      restartBefore: Set[Int]
  )(query: DataFrame => DataFrame): Unit = streaming()(inDirectory { checkpoint =>
    val source = new Source(s"$delaySeconds seconds", checkpoint, OutputMode.Update())
    source.start(query)
    val last = mutable.HashMap.empty[Long, Seq[Any]]
    var seen = 0
    var again = 0
    batches.indices.foreach { i =>
      if (restartBefore(i)) {
        source.stop()
        source.start(query)
      }
      source.add(batches(i))
      val (inTime, _) = StreamSuite.onTime(batches.take(i + 1), delaySeconds)
      val all = answers(query(spark.createDataFrame(inTime)).collect().toSeq)
      val expected = all.filterNot { case (id, answer) => last.get(id).contains(answer) }
      val now = source.rows.drop(seen)
      seen += now.length
      assert(now.map(_.getLong(0)).distinct.length == now.length, s"twice in batch $i")
      assert(answers(now) == expected, s"batch $i")
      again += expected.keys.count(last.contains)
      last ++= expected
    }
    source.stop()
    assert(again > 0, "vacuous: no answer changed")
  })

  private def answers(rows: Seq[Row]): Map[Long, Seq[Any]] =
    rows.map(r => r.getLong(0) -> r.toSeq).toMap

  /** What Spark makes of a query that is to start. */
  protected def statementOf(
      analyzed: LogicalPlan,
      mode: OutputMode,
      trigger: Trigger
  ): WriteToStreamStatement = WriteToStreamStatement(
    userSpecifiedName = None,
    userSpecifiedSinkName = None,
    userSpecifiedCheckpointLocation = None,
    useTempCheckpointLocation = true,
    recoverFromCheckpointLocation = false,
    sink = null,
    outputMode = mode,
    hadoopConf = spark.sparkContext.hadoopConfiguration,
    trigger = trigger,
    inputQuery = analyzed
  )

  /** What the state of the last operator would be written for. */
  protected def textOf(query: DataFrame => DataFrame, mode: OutputMode): String =
    processorOf(query, mode).text

  /** The processor of the last operator. */
  protected def processorOf(query: DataFrame => DataFrame, mode: OutputMode): BucketProcessor = {
    val events = MemoryStream[Event](Encoders.product[Event], spark).toDF()
    val execution = query(events.withWatermark("ts", "1 second")).queryExecution
    val statement = statementOf(execution.analyzed, mode, Trigger.ProcessingTime(0))
    val planned = StreamingWrite(statement).asInstanceOf[WriteToStreamStatement].inputQuery
    val optimized = execution.sparkSession.sessionState.optimizer.execute(planned)
    optimized.collectFirst { case OfBuckets(_, processor) => processor }.get
  }

  /** The query over a view of the rows, called `events`. */
  protected def sql(query: String)(rows: DataFrame): DataFrame = {
    rows.createOrReplaceTempView("events")
    spark.sql(query)
  }

  protected def rowsInState(query: StreamingQuery): Long =
    query.lastProgress.stateOperators.head.numRowsTotal
}

object StreamSuite {

  /** A row of so many seconds after a beginning. */
  def at(id: Long, second: Double, k: Int = 1, x: Int = 1, d: Double = 0.0): Event =
    Event(
      id,
      Some(k),
      Some(new Timestamp(1600000000000L + (second * 1000).toLong)),
      Some(x),
      d,
      "s"
    )

  def inOrder(events: Seq[Event]): Seq[Event] = events.sortBy(e => (micros(e), e.id))

  /** In microseconds since 1970. */
  def micros(e: Event): Long = e.ts.get.getTime * 1000 + e.ts.get.getNanos / 1000 % 1000

  /** Those that a watermark, in milliseconds, has passed. */
  def passed(events: Seq[Event], watermark: Long): Seq[Event] =
    events.filter(micros(_) <= watermark * 1000)

  /** The rows that are not late, and the last watermark, in milliseconds. */
  def onTime(batches: Seq[Seq[Event]], delaySeconds: Int): (Seq[Event], Long) =
    batches.foldLeft((Seq.empty[Event], 0L)) { case ((rows, watermark), batch) =>
      val now = batch.filter(e => e.ts.nonEmpty && micros(e) > watermark * 1000)
      val latest = batch.flatMap(_.ts).map(_.getTime - delaySeconds * 1000L)
      (rows ++ now, (watermark +: latest).max)
    }

  /** Random batches whose times advance and overlap; some rows come too late. */
  def batches(
      seed: Long,
      count: Int,
      size: Int,
      jitterSeconds: Int,
      keys: Int
  ): Seq[Seq[Event]] = {
    val random = new Random(seed)
    def maybe[T](percent: Int)(value: => T): Option[T] =
      if (random.nextInt(100) < percent) None else Some(value)
    var id = 0L
    val made = (0 until count).map { b =>
      Seq.fill(random.nextInt(size + 1)) {
        id += 1
        val second = 1000 + b * 10 + random.nextInt(10 + jitterSeconds) - jitterSeconds
        val ts = new Timestamp(1600000000000L + second * 1000L + random.nextInt(3) * 333L)
        Event(
          id,
          maybe(10)(random.nextInt(keys)),
          maybe(3)(ts),
          maybe(15)(random.nextInt(100)),
          random.nextInt(1000) / 8.0,
          ('a' + random.nextInt(26)).toChar.toString
        )
      }
    }
    val last = new Timestamp(1600000000000L + 1000 * 1000L + count * 10000L + 3600000L)
    made :+ Seq(Event(id + 1, None, Some(last), None, 0.0, "end"))
  }
}
