package io.sash.papers.inorder

import io.sash.core.TestColumn
import io.sash.core.inorder.WindowAlgorithm
import io.sash.core.slots.Partials
import io.sash.papers.ChunkedTestColumn
import io.sash.papers.fat.ReactiveAggregator
import io.sash.papers.mta.{Amta, LogMta}
import io.sash.core.inorder.WindowAlgorithm.General

/** The algorithms that no query of Spark runs, for the laws of all windows in order. */
object PaperAlgorithm {
  object TwoStacks extends General("Two-Stacks", new TwoStacks(_))
  object Daba extends General("DABA", new Daba(_))
  object DabaLite extends General("DABA Lite", new DabaLite(_))
  object DabaInChunks extends General("DABA in chunks", c => new Daba(inChunks(c)))
  object DabaLiteInChunks extends General("DABA Lite in chunks", c => new DabaLite(inChunks(c)))
  object FlatFit extends General("FlatFIT", new FlatFit(_))
  object Reactive extends General("Reactive Aggregator", new ReactiveAggregator(_))
  object LogMtaTree extends General("Log MTA", new LogMta(_))
  object AmtaForest extends General("AMTA", new Amta(_))

  /** In chunks so small that a schedule runs through many of them. */
  private def inChunks(column: Partials): Partials = column match {
    case c: TestColumn[_] => new ChunkedTestColumn(c.operation, chunkSize = 8)
    case other            => throw new IllegalArgumentException(s"$other is no test's column")
  }

  val All: Seq[WindowAlgorithm] =
    Seq(
      TwoStacks,
      Daba,
      DabaLite,
      DabaInChunks,
      DabaLiteInChunks,
      FlatFit,
      Reactive,
      LogMtaTree,
      AmtaForest
    )
}
