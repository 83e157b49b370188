package io.sash.bench

import java.nio.file.Files

import scala.reflect.io.Directory

import io.sash.core.fat.BaseIntervals
import io.sash.core.inorder.{
  InOrderWindow,
  Recalculate,
  SlickDequeInv,
  SlickDequeNonInv,
  TwoStacksLite
}
import io.sash.core.slots.{Invertible, Selective}
import io.sash.papers.algebra.{Column, Count, GeometricMean, Max, Sum}
import io.sash.papers.fat.ReactiveAggregator
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder.{Daba, DabaLite, FlatFit, TwoStacks}
import io.sash.papers.mta.{Amta, LogMta}
import io.sash.papers.stored.{KvsAmta, RocksStore}

/** What a benchmark's parameters name. */
object Named {

  /** A number behind `sums` is the number of dimensions; `chunked_sum` is a sum in chunks. */
  def column(operation: String): BenchColumn = operation match {
    case "sum"         => new IntsColumn(Column.of(Sum[Int]))
    case "chunked_sum" => new IntsColumn(Column.inChunks(Sum[Int]))
    case "max"         => new IntsColumn(Column.of(Max[Int]))
    case "count"       => new LongsColumn(Column.of(Count[Int]))
    case "geomean"     => new DoublesColumn(Column.of(GeometricMean))
    case "bloom"       => new BloomColumn
    case sums          => new SumsColumn(sums.stripPrefix("sums").toInt)
  }

  def window(algorithm: String, column: BenchColumn): InOrderWindow =
    (algorithm, column.partials) match {
      case ("recalculate", c)                   => new Recalculate(c)
      case ("two_stacks", c)                    => new TwoStacks(c)
      case ("two_stacks_lite", c)               => new TwoStacksLite(c)
      case ("daba", c)                          => new Daba(c)
      case ("daba_lite", c)                     => new DabaLite(c)
      case ("flatfit", c)                       => new FlatFit(c)
      case ("slickdeque_inv", c: Invertible)    => new SlickDequeInv(c)
      case ("slickdeque_non_inv", c: Selective) => new SlickDequeNonInv(c)
      case ("reactive", c)                      => new ReactiveAggregator(c)
      case ("b_int", c)                         => new BaseIntervals(c)
      case ("amta", c)                          => new Amta(c)
      case ("log_mta", c)                       => new LogMta(c)
      case (s"kvs_amta$log", c: Column[_, _]) =>
        new KvsAmta(c, rocksDb(), c, logFanOut = log.toInt)
      case _ => throw new IllegalArgumentException(s"$algorithm does not take this operation")
    }

  /** `fiba4` has a minimum arity of 4; `fiba4_any` does not know that the operation commutes. */
  def fiba(algorithm: String, column: BenchColumn): Fiba = {
    val minArity = algorithm.stripPrefix("fiba").stripSuffix("_any").toInt
    new Fiba(column.partials, minArity, commutes = !algorithm.endsWith("_any"))
  }

  /** An empty store in a directory that goes with the process. */
  private def rocksDb(): RocksStore = {
    val directory = Files.createTempDirectory("kvs-amta")
    val store = new RocksStore(directory.toString)
    sys.addShutdownHook {
      store.close()
      Directory(directory.toFile).deleteRecursively()
    }
    store
  }
}

/** The authors' stream: 1, 2, … 101, 1, 2, … */
final class AuthorsStream {
  private[this] var last = 0

  def next(): Int = {
    last = if (last == 101) 1 else last + 1
    last
  }
}
