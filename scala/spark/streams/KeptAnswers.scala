package io.sash.spark.streams

import java.util.{LinkedHashMap, UUID}

import scala.collection.mutable

import org.apache.spark.TaskContext

import io.sash.spark.running.{RunningAnswer, RunningState}

/**
 * Answers beside the slots of the keys of a partition, which are not stored: from one micro-batch to
 * the next they stay in the process, each key's under a stamp that is new in each header of the
 * key. A header whose stamp is not here, as after a restart, a retry or on another executor, says
 * that its answers have to be made anew.
 *
 * One task at a time has them: states that one program has made may share what they compute with.
 *
 * @param program what makes states
 */
private[streams] final class KeptAnswers(program: Seq[RunningAnswer], windows: Int) {
  import KeptAnswers._

  private[this] val byStamp = new LinkedHashMap[UUID, Kept] // the longest unasked first
  private[this] var bytes = 0L

  /** New answers, for each of the windows. */
  def create(): Array[Array[RunningState]] =
    Array.fill(windows)(program.map(_.create()).toArray)

  /** Those of this stamp, which are the caller's then; null if they are not here. */
  def take(stamp: UUID): Array[Array[RunningState]] = {
    val kept = byStamp.remove(stamp)
    if (kept == null) {
      null
    } else {
      bytes -= kept.bytes
      kept.answers
    }
  }

  /** Keeps answers, which the caller gives up. */
  def keep(answers: Array[Array[RunningState]]): UUID = {
    val stamp = UUID.randomUUID()
    val kept = new Kept(answers, answers.map(_.map(_.bytes).sum).sum + EntryBytes)
    byStamp.put(stamp, kept)
    bytes += kept.bytes
    trim(MostBytes)
    stamp
  }

  private def trim(most: Long): Unit = {
    val eldest = byStamp.values.iterator
    while (bytes > most && eldest.hasNext) {
      bytes -= eldest.next().bytes
      eldest.remove()
    }
  }
}

private[streams] object KeptAnswers {

  /** What all queries may keep in a process: a twentieth of its heap. Not final: for tests. */
  private[streams] var MostBytes: Long = Runtime.getRuntime.maxMemory / 20

  private val EntryBytes = 256L
  private val LongestUnused = 3600L * 1000 * 1000 * 1000

  private final class Kept(val answers: Array[Array[RunningState]], val bytes: Long)

  /**
   * Whose they are.
   *
   * @param run of the query
   * @param text of the operator
   */
  private[streams] final case class Place(run: UUID, text: String, partition: Int, group: Int)

  private final class Idle(val kept: KeptAnswers, val since: Long)

  private[this] val idle = mutable.HashMap.empty[Place, Idle]

  /** Those of a place, until the task ends. */
  def lease(place: Place, create: => KeptAnswers): KeptAnswers = {
    val kept = synchronized(idle.remove(place)).fold(create)(_.kept)
    TaskContext.get().addTaskCompletionListener[Unit](_ => giveBack(place, kept))
    kept
  }

  /** Each place has its share; queries that have ended leave. */
  private def giveBack(place: Place, kept: KeptAnswers): Unit = synchronized {
    val now = System.nanoTime()
    idle.filterInPlace((_, i) => now - i.since < LongestUnused)
    idle(place) = new Idle(kept, now)
    idle.values.foreach(_.kept.trim(MostBytes / idle.size))
  }
}
