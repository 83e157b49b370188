package io.sash.spark.streams

import java.util.{LinkedHashMap, UUID}

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

  /** New answers, for each of the windows. */
  def create(): Array[Array[RunningState]] =
    Array.fill(windows)(program.map(_.create()).toArray)

  /** Those of this stamp, which are the caller's then; null if they are not here. */
  def take(stamp: UUID): Array[Array[RunningState]] = KeptAnswers.take(this, stamp)

  /** Keeps answers, which the caller gives up. */
  def keep(answers: Array[Array[RunningState]]): UUID = KeptAnswers.keep(this, answers)
}

private[streams] object KeptAnswers {

  /** What all queries may keep in a process: a twentieth of its heap. Not final: for tests. */
  private[streams] var MostBytes: Long = Runtime.getRuntime.maxMemory / 20

  private val EntryBytes = 256L
  private val MostPlaces = 10000

  /**
   * Whose they are.
   *
   * @param run of the query
   * @param text of the operator
   */
  private[streams] final case class Place(run: UUID, text: String, partition: Int, group: Int)

  private final class Kept(
      val of: KeptAnswers,
      val answers: Array[Array[RunningState]],
      val bytes: Long
  )

  private[this] val byStamp = new LinkedHashMap[UUID, Kept] // the longest unasked first
  private[this] var bytes = 0L
  private[this] val idle = new LinkedHashMap[Place, KeptAnswers]

  private def take(of: KeptAnswers, stamp: UUID): Array[Array[RunningState]] = synchronized {
    val kept = byStamp.get(stamp)
    if (kept == null || (kept.of ne of)) {
      null
    } else {
      byStamp.remove(stamp)
      bytes -= kept.bytes
      kept.answers
    }
  }

  private def keep(of: KeptAnswers, answers: Array[Array[RunningState]]): UUID = {
    val stamp = UUID.randomUUID()
    val kept = new Kept(of, answers, answers.map(_.map(_.bytes).sum).sum + EntryBytes)
    synchronized {
      byStamp.put(stamp, kept)
      bytes += kept.bytes
      val eldest = byStamp.values.iterator
      while (bytes > MostBytes) {
        bytes -= eldest.next().bytes
        eldest.remove()
      }
    }
    stamp
  }

  /** Those of a place, until the task ends. */
  def lease(place: Place, create: => KeptAnswers): KeptAnswers = {
    val kept = synchronized(Option(idle.remove(place))).getOrElse(create)
    TaskContext.get().addTaskCompletionListener[Unit](_ => giveBack(place, kept))
    kept
  }

  private def giveBack(place: Place, kept: KeptAnswers): Unit = synchronized {
    idle.put(place, kept)
    if (idle.size > MostPlaces) {
      val eldest = idle.values.iterator
      eldest.next()
      eldest.remove()
    }
  }
}
