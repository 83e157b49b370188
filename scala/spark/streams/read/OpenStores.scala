package io.sash.spark.streams.read

import java.util.concurrent.TimeUnit

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider

import io.sash.spark.base.IdleSweep

/**
 * The stores that this process has opened to read. Opening takes most of the time of a read, so a
 * store stays open for a while. A task that reads the same partition next gets it, and fetches
 * only the files of a later batch.
 */
private[read] object OpenStores {

  /**
   * A partition of the state of a query.
   *
   * @param states the directory of the states; a copy of a checkpoint has the query's id, too
   */
  final case class Partition(states: String, query: String, operator: Long, partition: Int)

  /**
   * A version of the state.
   *
   * @param committed when it was committed. A query that was set back commits a version again
   */
  final case class Version(number: Long, committed: Long)

  private final class Open(val store: LentStore, val version: Version) {
    val since: Long = System.nanoTime()
  }

  private val Most = 16
  private val IdleNanos = TimeUnit.SECONDS.toNanos(60)

  private[this] val idle =
    mutable.LinkedHashMap.empty[Partition, Open] // the longest unused first

  /** Lends the task a store of the place, until the task ends. */
  def lend(place: Partition, version: Version)(open: => StateStoreProvider): LentStore = {
    val left = taken(place)
    val isOther = left.exists(o => o.version.number == version.number && o.version != version)
    if (isOther) close(left)
    val store = left.filterNot(_ => isOther).fold(new LentStore(open))(_.store)
    TaskContext.get().addTaskCompletionListener[Unit] { task =>
      val back = new Open(store, version)
      close(if (task.isFailed() || task.isInterrupted()) Some(back) else put(place, back))
    }
    store
  }

  private def taken(place: Partition): Option[Open] = synchronized(idle.remove(place))

  /** Keeps a store; returns the stores that have to be closed for it. */
  private def put(place: Partition, open: Open): Iterable[Open] = synchronized {
    val other = idle.put(place, open)
    val eldest = if (idle.size > Most) idle.headOption.map(_._1).flatMap(idle.remove) else None
    sweeps.plan()
    other ++ eldest
  }

  private def close(stores: Iterable[Open]): Unit = stores.foreach(_.store.close())

  private[this] val sweeps = new IdleSweep(
    "sash-open-stores",
    TimeUnit.NANOSECONDS.toMillis(IdleNanos) / 4,
    synchronized(idle.nonEmpty)
  )(close(unused()))

  private def unused(): Iterable[Open] = synchronized {
    val old = idle.filter { case (_, o) => System.nanoTime() - o.since > IdleNanos }.toSeq
    old.foreach { case (place, _) => idle.remove(place) }
    old.map(_._2)
  }
}
