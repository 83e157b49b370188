package io.sash.spark.streams.state

import java.util.{LinkedHashMap, UUID}

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId
import org.apache.spark.sql.sash.StreamInternals

import io.sash.spark.base.IdleSweep
import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * Keeps the answers beside the slots, which are not stored, from one micro-batch to the next.
 * They stay in the process. Each time a key's header is written, the key's answers get a new
 * stamp, which the header holds. If a header's stamp is unknown here, the answers have to be made
 * anew: after a restart, a retry, or on another executor.
 *
 * One task at a time has the answers of a partition, since states of one program may share the
 * objects that they compute with.
 *
 * Answers are dropped with the state that they belong to. Every ten seconds the process checks
 * which state stores Spark has unloaded. Spark unloads the stores of a stopped query in its next
 * maintenance (spark.sql.streaming.stateStore.maintenanceInterval). It does so at once where
 * another run of the query loads the same store.
 *
 * @param program makes the states
 */
private[streams] final class KeptAnswers(program: Seq[RunningAnswer], windows: Int) {

  /** New answers for each of the windows. */
  def create(): Array[Array[RunningState]] =
    Array.fill(windows)(program.map(_.create()).toArray)

  /** The answers of a stamp, which then belong to the caller; null if they are not here. */
  def take(stamp: UUID): Array[Array[RunningState]] = KeptAnswers.take(this, stamp)

  /** Keeps answers, which the caller gives up; returns their stamp. */
  def keep(answers: Array[Array[RunningState]]): UUID = KeptAnswers.keep(this, answers)
}

private[streams] object KeptAnswers {

  /**
   * The bytes that all queries may keep in a process: a twentieth of its heap. A var only for
   * tests.
   */
  private[streams] var MostBytes: Long = Runtime.getRuntime.maxMemory / 20

  private val EntryBytes = 256L
  private val MostPlaces = 10000

  /** The time between two checks for unloaded stores. A var only for tests. */
  private[streams] var SweepMillis: Long = 10000L

  /**
   * The owner of answers.
   *
   * @param store identifies the run of a query, an operator and a partition
   * @param group the number of the group of the operator's windows
   */
  private[streams] final case class Holder(store: StateStoreProviderId, group: Int)

  private final class Kept(
      val of: KeptAnswers,
      val answers: Array[Array[RunningState]],
      val bytes: Long
  )

  // the longest unused first
  private[this] val byStamp = new LinkedHashMap[UUID, Kept]
  private[this] var bytes = 0L
  private[this] val idle = new LinkedHashMap[Holder, KeptAnswers]

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

  /** Lends the answers of a holder to the task, until it ends. */
  def lease(holder: Holder, create: => KeptAnswers): KeptAnswers = {
    val kept = synchronized(Option(idle.remove(holder))).getOrElse(create)
    TaskContext.get().addTaskCompletionListener[Unit](_ => giveBack(holder, kept))
    kept
  }

  private def giveBack(holder: Holder, kept: KeptAnswers): Unit = synchronized {
    idle.put(holder, kept)
    if (idle.size > MostPlaces) drop(idle.keySet.iterator.next())
    sweeps.plan()
  }

  /** Drops the answers of a holder, unless a task has them. */
  private def drop(holder: Holder): Unit = synchronized {
    val kept = idle.remove(holder)
    val all = byStamp.values.iterator
    while (kept != null && all.hasNext) {
      val entry = all.next()
      if (entry.of eq kept) {
        bytes -= entry.bytes
        all.remove()
      }
    }
  }

  /** The number of keys with answers, and the number of places that no task has. */
  private[streams] def size: (Int, Int) = synchronized((byStamp.size, idle.size))

  /**
   * Drops the answers of stores that Spark has unloaded. It asks Spark without holding a lock.
   */
  private def sweep(): Unit = {
    val places = synchronized(idle.keySet.asScala.toSeq)
    places.filterNot(p => StreamInternals.isLoaded(p.store)).foreach(drop)
  }

  private[this] val sweeps =
    new IdleSweep("sash-kept-answers", SweepMillis, synchronized(!idle.isEmpty))(sweep())
}
