package io.sash.spark.streams.read

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.streaming.state.StateStoreConf

import io.sash.spark.base.SashConf
import io.sash.spark.streams.ask.ReadState
import io.sash.spark.streams.checkpoint.{NumberedFiles, StateFile, StateSignature}

/** The state of a query's windows in a checkpoint, after the last committed batch. */
private[read] final class HeldState(
    location: String,
    windows: AskedWindows,
    session: SparkSession
) {
  private[this] val hadoop: Configuration = session.sessionState.newHadoopConf()
  private[this] val checkpoint = new Path(location)
  private[this] val batch = CommittedBatch.of(checkpoint, hadoop)
  private[this] val states = new Path(checkpoint, "state")

  /** The operator whose state is of the windows, and the windows in its words. */
  private[this] val (operator, of, generation) = {
    val described = for {
      number <- numbersIn(states)
      file = new StateFile(new Path(states, number.toString), hadoop)
      all = file.before(batch.id + 1)
      last <- all.lastOption.filter(_.isOfHops == windows.areHops)
    } yield (number, last, windows.runAs(last.text), all.length - 1)
    val found = described.find { case (_, last, run, _) => last.isOf(run.text) }
    found.orElse(described.headOption) match {
      case Some((number, last, run, generation)) =>
        if (found.isEmpty) {
          val countsLate = StateSignature.part(last.text, StateSignature.LateRows).nonEmpty
          throw if (countsLate) refuseLate() else last.differs(run.text)
        }
        (number.toLong, run, generation)
      case None => throw refuseOther()
    }
  }

  /** The stream has let go of rows up to this time, in microseconds. */
  private[this] val passed = (Seq(batch.watermark) ++ of.history).max

  private def refuseOther(): Throwable = ReadState.refuse(
    "checkpoint",
    if (windows.areHops)
      s"$checkpoint has no hop windows of Sash; if Spark has answered them, " +
        "spark.read.format('statestore') reads their state"
    else s"$checkpoint has no windows of Sash's OVER"
  )

  private def refuseLate(): Throwable = ReadState.refuse(
    "checkpoint",
    s"$checkpoint has windows in which late rows count (${SashConf.StreamLateRows.key}=count), " +
      "and these cannot be read yet"
  )

  /** @param at the moment, in microseconds; None is the time of each key's last row */
  def answers(asked: Option[Expression], at: Option[Long]): RDD[InternalRow] = {
    at.foreach(check)
    val keys = of.keys
    if (asked.isEmpty && !keys.areReadable) keys.refuseUnreadable()
    val reader = new StateReader(
      Sealed(of.reading(passed, generation)),
      of.moment(at),
      states.toString,
      batch.query,
      operator,
      OpenStores.Version(batch.id + 1, batch.committed),
      Sealed(StateReader.Settings.of(storeConf, hadoop))
    )
    new StateRdd(session.sparkContext, reader, partsOf(keys, asked.map(keys.valuesOf)))
  }

  private def storeConf: StateStoreConf = {
    val conf = session.sessionState.conf.clone()
    batch.settings.foreach { case (name, value) => conf.setConfString(name, value) }
    new StateStoreConf(conf)
  }

  /** Refuses a moment whose windows had rows that the stream has forgotten. */
  private def check(at: Long): Unit = {
    if (at <= passed)
      throw ReadState.refuse(
        "at",
        s"it is ${StateSignature.time(at)}, and batch ${batch.id} has let go of rows by " +
          s"${StateSignature.time(passed)}, its watermark; give a later time, or " +
          "none for each key's last row"
      )
  }

  private def partsOf(
      keys: KeysOfState,
      asked: Option[Seq[InternalRow]]
  ): Seq[StateReader.AskedPartition] = {
    val buckets = StateSignature.part(of.text, StateSignature.Buckets).fold(1)(_.toInt)
    val partitions = numbersIn(new Path(states, operator.toString)).length
    val all: Seq[(Int, Option[Seq[InternalRow]])] = asked match {
      case Some(values) =>
        keys.byBucket(values, buckets).toSeq.map { case (b, k) => b -> Some(k) }
      case None => keys.allBuckets(buckets).map(_ -> None)
    }
    all.groupBy { case (b, _) => KeysOfState.partitionOf(b, partitions) }.toSeq.sortBy(_._1).map {
      case (partition, buckets) =>
        StateReader.AskedPartition(partition, batch.stateId(operator, partition), buckets)
    }
  }

  private def numbersIn(directory: Path): Seq[Int] =
    NumberedFiles.in(directory, hadoop).map(_.getPath.getName.toInt).sorted
}
