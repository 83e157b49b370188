package io.sash.spark.multisets

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.sash.spark.Thorough

/** A tree of ranks has the numbers of a sorted list, and their places. */
class RankTreeSuite extends AnyFunSuite {

  private def equalsSorted(tree: RankTree, expected: mutable.ArrayBuffer[Long]): Unit = {
    assert(tree.size == expected.length)
    val ranks = expected.indices.by(math.max(1, expected.length / 50))
    ranks.foreach(r => assert(tree.select(r.toLong) == expected(r), s"rank $r of $expected"))
  }

  private def insertSorted(numbers: mutable.ArrayBuffer[Long], key: Long): Unit = {
    val i = numbers.search(key).insertionPoint
    numbers.insert(i, key)
  }

  for {
    (keys, key) <- Seq[(String, Random => Long)](
      "few" -> (_.nextInt(7).toLong),
      "many" -> (_.nextInt(100000).toLong),
      "all" -> (_.nextLong()),
      "extreme" -> (r => if (r.nextBoolean()) Long.MinValue else Long.MaxValue - r.nextInt(3))
    )
    window <- Seq(1, 5, 63, 64, 65, 1000, 9000)
  } test(
    s"a window of $window over $keys keys has the ranks of a sorted array",
    (if (window > 5000) Seq(Thorough) else Nil): _*
  ) {
    val random = new Random(window)
    val tree = new RankTree
    val sorted = mutable.ArrayBuffer.empty[Long]
    val order = mutable.Queue.empty[Long]
    (0 until math.min(4 * window, 20000)).foreach { step =>
      val number = key(random)
      tree.add(number)
      insertSorted(sorted, number)
      order.enqueue(number)
      if (order.length > window) {
        val gone = order.dequeue()
        tree.remove(gone)
        sorted.remove(sorted.search(gone).insertionPoint)
      }
      if (step % 97 == 0) equalsSorted(tree, sorted)
    }
    equalsSorted(tree, sorted)
    order.foreach(tree.remove)
    assert(tree.size == 0)
    tree.add(3L)
    assert(tree.select(0) == 3L)
  }

  for (ofKeys <- Seq(false, true); keys <- Seq(7, 300, 100000))
    test(s"counts below a number are those of a sorted array, of $keys, each once: $ofKeys") {
      val random = new Random(keys)
      val tree = new RankTree(ofKeys)
      val window = mutable.Queue.empty[Long]
      (0 until 9000).foreach { step =>
        window.enqueue(random.nextInt(keys).toLong)
        tree.add(window.last)
        if (window.length > 3000) tree.remove(window.dequeue())
        if (step % 250 == 0) {
          val all = (if (ofKeys) window.distinct else window).toSeq.sorted
          assert(
            tree.size == all.length && all.indices.by(100).forall(r => tree.select(r) == all(r))
          )
          for (key <- Seq.fill(20)(random.nextInt(keys + 2) - 1L)) {
            assert(tree.countBelow(key) == all.count(_ < key), key)
            assert(tree.countUpTo(key) == all.count(_ <= key), key)
          }
        }
      }
      window.foreach(tree.remove)
      assert(tree.size == 0 && tree.countUpTo(Long.MaxValue) == 0)
    }

  test("ascending and descending numbers that leave from either end") {
    for (up <- Seq(true, false); oldest <- Seq(true, false)) {
      val tree = new RankTree
      val sorted = mutable.ArrayBuffer.empty[Long]
      (0L until 20000L).foreach { i =>
        val number = if (up) i else -i
        tree.add(number)
        insertSorted(sorted, number)
        if (i % 3 != 0) {
          val gone = if (oldest == up) sorted.remove(0) else sorted.remove(sorted.length - 1)
          tree.remove(gone)
        }
      }
      equalsSorted(tree, sorted)
    }
  }

  test("a number that is not there is refused, and nothing is lost") {
    val tree = new RankTree
    (0L until 1000L).foreach(i => tree.add(2 * i))
    Seq(-1L, 1L, 999L, 2001L).foreach { key =>
      intercept[NoSuchElementException](tree.remove(key))
      equalsSorted(tree, mutable.ArrayBuffer.from((0L until 1000L).map(2 * _)))
    }
  }

  test("cleared, it is as new") {
    val tree = new RankTree
    (0L until 1000L).foreach(tree.add)
    tree.clear()
    tree.add(5L)
    assert(tree.size == 1 && tree.select(0) == 5L)
  }
}
