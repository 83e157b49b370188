package io.sash.papers.fiba

/** The invariants of Fiba's scaladoc, checked on the nodes of a window. */
final class Invariants[A](window: Window[A]) {
  import window.{children, column, entries, operation, store}

  private val minArity = store.minArity
  private val suffixes = store.windowSlots + store.maxArity

  /** The broken invariants, if any. */
  def broken: Option[String] = {
    val all = nodesFrom(store.root)
    val wrong = structure(all) ++ times ++ all.flatMap(arity) ++ all.flatMap(location) ++ sizes
    // without a proper tree, faults of aggregates would only confuse
    (if (wrong.isEmpty) aggregates(all) ++ stacks else wrong).headOption
  }

  private def nodesFrom(node: Int): Seq[Int] = node +: children(node).flatMap(nodesFrom)

  private def claim(holds: Boolean, message: => String): Option[String] =
    if (holds) None else Some(message)

  private def name(node: Int): String = s"node ${window.times(node).mkString("[", " ", "]")}"

  /** (I1), and that each child knows its parent. */
  private def structure(all: Seq[Int]): Seq[String] =
    claim(store.parent(store.root) == 0, "the root has a parent").toSeq ++
      claim(all.distinct.size == all.size, "a node is in two places") ++
      (for {
        node <- all
        child <- children(node)
        message <- claim(store.parent(child) == node, s"${name(child)} has another parent") ++
          claim(store.level(child) == store.level(node) - 1, s"(I1) ${name(child)}")
      } yield message)

  /** (I2): all entries ascend in the order of the tree. */
  private def times: Option[String] = {
    val inOrder = entriesUnder(store.root).map { case (node, i) => store.time(node, i) }
    claim(
      inOrder.zip(inOrder.drop(1)).forall { case (a, b) => a < b },
      s"(I2) ${inOrder.mkString(" ")}"
    )
  }

  private def entriesUnder(node: Int): Seq[(Int, Int)] = {
    val own = entries(node).map((node, _))
    if (store.isLeaf(node)) own
    else {
      val below = children(node).map(entriesUnder)
      below.head ++ own.zip(below.tail).flatMap { case (entry, younger) => entry +: younger }
    }
  }

  /** (I3) */
  private def arity(node: Int): Option[String] = {
    val arity = store.arity(node) - (if (node == store.leftFinger) store.head else 0)
    val least = if (node != store.root) minArity else if (store.size > 0) 2 else 1
    claim(arity >= least && arity <= store.maxArity, s"(I3) ${name(node)} has arity $arity")
  }

  private def onLeft(node: Int): Boolean =
    node == store.root || {
      val parent = store.parent(node)
      onLeft(parent) && store.child(parent, 0) == node
    }

  private def onRight(node: Int): Boolean =
    node == store.root || {
      val parent = store.parent(node)
      onRight(parent) && store.child(parent, store.arity(parent) - 1) == node
    }

  /** Spines and fingers. */
  private def location(node: Int): Seq[String] = {
    val spine = (if (onLeft(node)) NodeStore.Left else 0) +
      (if (onRight(node)) NodeStore.Right else 0)
    val leaf = store.isLeaf(node)
    claim(store.spine(node) == spine, s"${name(node)} is on spine ${store.spine(node)}").toSeq ++
      claim(!leaf || onLeft(node) == (node == store.leftFinger), s"left finger, ${name(node)}") ++
      claim(!leaf || onRight(node) == (node == store.rightFinger), s"right finger, ${name(node)}")
  }

  /** (I5) */
  private def sizes: Seq[String] =
    claim(store.size == entriesUnder(store.root).size, s"size ${store.size}").toSeq ++
      nodesFrom(store.root).filter(store.spine(_) == 0).flatMap { node =>
        claim(store.count(node) == entriesUnder(node).size, s"(I5) ${name(node)}")
      }

  /** (I4), by the definitions of section 3.2. */
  private def isStacked(node: Int): Boolean =
    node != store.root && onLeft(node) && store.level(node) <= 1

  private def aggregates(all: Seq[Int]): Seq[String] =
    for {
      node <- all
      if store.size > 0 && !isStacked(node)
      expected =
        if (node == store.root) inner(node)
        else if (onLeft(node)) left(node)
        else if (onRight(node)) right(node)
        else up(node)
      actual = column(store.aggregate(node))
      message <- claim(actual == expected, s"(I4) ${name(node)} holds $actual, not $expected")
    } yield message

  /** (I4) for the left finger and its parent: the left aggregates of all their suffixes. */
  private def stacks: Seq[String] = {
    val leaf = store.leftFinger
    val parent = store.parent(leaf)
    val ofLeaf =
      if (leaf == store.root) Nil
      else entries(leaf).flatMap(i => stacked(s"suffix $i", suffixes + i, suffix(leaf, i)))
    val ofParent =
      if (leaf == store.root || parent == store.root) Nil
      else {
        val first = window.fiba.tree.leftAggregate(parent)
        entries(parent).flatMap(i => stacked(s"parent's $i", first + i, suffix(parent, i)))
      }
    ofLeaf ++ ofParent
  }

  private def stacked(what: String, slot: Int, expected: A): Option[String] =
    claim(column(slot) == expected, s"(I4) $what is ${column(slot)}, not $expected")

  private def suffix(node: Int, from: Int): A = {
    val below = children(node).map(up)
    val operands = (from until store.arity(node) - 1).flatMap { i =>
      value(node, i) +: below.slice(i + 1, i + 2)
    }
    operation.combine(fold(operands), aboveLeft(node))
  }

  private def fold(operands: Seq[A]): A =
    operands.foldLeft(operation.identity)(operation.combine)

  private def value(node: Int, i: Int): A = column(store.slot(node, i))

  /** The values, with the up aggregates of the children that satisfy `inside`. */
  private def fold(node: Int, inside: Int => Boolean): A = {
    val below = children(node).zipWithIndex.map { case (child, i) =>
      if (inside(i)) up(child) else operation.identity
    }
    val own = entries(node).map(value(node, _))
    fold(
      below.take(1) ++ own.zipAll(below.drop(1), operation.identity, operation.identity).flatMap {
        case (v, c) => Seq(v, c)
      }
    )
  }

  private def up(node: Int): A = fold(node, _ => true)

  private def inner(node: Int): A =
    fold(node, i => i > 0 && i < store.arity(node) - 1)

  private def left(node: Int): A = operation.combine(fold(node, _ > 0), aboveLeft(node))

  private def aboveLeft(node: Int): A = {
    val parent = store.parent(node)
    if (parent == store.root) operation.identity else left(parent)
  }

  private def right(node: Int): A = {
    val parent = store.parent(node)
    val above = if (parent == store.root) operation.identity else right(parent)
    operation.combine(above, fold(node, _ < store.arity(node) - 1))
  }
}
