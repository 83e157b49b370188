package io.sash.papers.fiba

import io.sash.core.{Element, Operation, TestColumn}

/** A FiBA over a test column, driven by values, with methods to look into it. */
final class Window[A] private[fiba] (
    val operation: Operation[A],
    private[fiba] val store: NodeStore,
    commutes: Boolean
) {
  private[fiba] def this(operation: Operation[A], store: NodeStore) =
    this(operation, store, operation.commutes)

  def this(operation: Operation[A], minArity: Int) =
    this(operation, NodeStore(TestColumn(operation), minArity))

  val fiba = new Fiba(store, commutes)

  private[fiba] def tree: FingerTree = fiba.tree

  def column: TestColumn[A] = fiba.column.asInstanceOf[TestColumn[A]]

  def insert(time: Long, element: Element): Unit = {
    column.lift(fiba.open(), element)
    fiba.insert(time)
  }

  def insert(time: Long): Unit = insert(time, Element(time.toInt, time.toInt))

  def bulkInsert(elements: Seq[(Long, Element)]): Unit = {
    openBulk(elements.map(_._2))
    fiba.bulkInsert(elements.map(_._1).toArray, elements.size)
  }

  def bulkInsertAt(times: Iterable[Long]): Unit =
    bulkInsert(times.toSeq.map(t => (t, Element(t.toInt, t.toInt))))

  def openBulk(elements: Seq[Element]): Unit = {
    val first = fiba.openBulk(elements.size)
    for ((element, i) <- elements.zipWithIndex) column.lift(first + i, element)
  }

  def query(): A = column(fiba.query())

  def range(from: Long, to: Long): A = column(fiba.range(from, to))

  /** The number of combines that `body` makes. */
  def cost(body: => Unit): Long = {
    val before = column.combines
    body
    column.combines - before
  }

  def children(node: Int): Seq[Int] =
    if (store.isLeaf(node)) Nil else (0 until store.arity(node)).map(store.child(node, _))

  /** The entries of a node that have not been evicted. */
  def entries(node: Int): Seq[Int] =
    (if (node == tree.left(0)) tree.head else 0) until store.arity(node) - 1

  def times(node: Int): Seq[Long] = entries(node).map(store.time(node, _))

  /** The tree from its root down: the times of each level's nodes. */
  def shape: Seq[Seq[Seq[Long]]] =
    Iterator
      .iterate(Seq(tree.root))(_.flatMap(children))
      .takeWhile(_.nonEmpty)
      .map(_.map(times))
      .toSeq

  def height: Int = tree.height + 1
}
