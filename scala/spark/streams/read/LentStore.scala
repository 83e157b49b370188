package io.sash.spark.streams.read

import java.util.concurrent.atomic.LongAdder

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}

import io.sash.spark.base.StreamVersions
import io.sash.spark.streams.plan.StatefulPlan
import io.sash.spark.streams.state.StreamState

/**
 * An open store of a partition, which one task after the other reads.
 *
 * The variables of the state, and the classes generated for windows, take longer to make than a
 * key takes to be read. So they stay for the next task that reads the same version by the same
 * program.
 */
private[read] final class LentStore(provider: StateStoreProvider) {
  private[this] val ofTask = new StoreOfTask
  private[this] var state: StreamState = _
  private[this] var stateOf: Option[OpenStores.Version] = None
  private[this] var made: Option[(Sealed[ReadProgram], BucketWindows)] = None

  def close(): Unit = provider.close()

  /** The windows that the task reads, until it ends. */
  def windows(
      version: OpenStores.Version,
      stateId: Option[String],
      program: Sealed[ReadProgram]
  ): BucketWindows = {
    ofTask.begin(provider.getReadStore(version.number, stateId) match {
      case store: StateStore => store
      case other => throw new IllegalStateException(s"${other.getClass} has no column families")
    })
    if (!stateOf.contains(version)) begin(version)
    if (!made.exists(_._1 == program)) made = Some(program -> over(program))
    made.get._2
  }

  private def begin(version: OpenStores.Version): Unit = {
    state = new StreamState(StreamVersions.handleOf(ofTask.store, StatefulPlan.keyEncoder))
    stateOf = Some(version)
    made = None
  }

  private def over(program: Sealed[ReadProgram]): BucketWindows = {
    LentStore.count.increment()
    program.open().over(state)
  }
}

private[read] object LentStore {

  /** How often windows have been made in this process; only for tests. */
  private[read] val count: LongAdder = new LongAdder
}
