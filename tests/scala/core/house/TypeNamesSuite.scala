package io.sash.core.house

import org.scalatest.funsuite.AnyFunSuite

/**
 * No two types of the sources have names that a reader could take for one another: names of the
 * same words in another order or form, or names that differ by one letter.
 */
class TypeNamesSuite extends AnyFunSuite {
  import TypeNamesSuite._

  test("no two types differ by an order of words, an ending or a letter") {
    val types = Source.all.flatMap(s => Type.findAllMatchIn(s.text).map(_.group(1) -> s.folder))
    val folders = types.groupMap(_._1)(_._2)
    assert(folders.size > 400)
    val faults = folders.keys.toSeq.sorted.combinations(2).collect {
      case Seq(a, b) if areAlike(a, b) && !isPlural(a, b, folders) && !Allowed(a -> b) =>
        s"$a, $b"
    }
    assert(faults.toSeq === Nil)
    assert(Allowed.filterNot { case (a, b) =>
      folders.contains(a) && folders.contains(b)
    } === Set())
  }

  test("no name stands in two rooms, inner types included") {
    val types = Source.all.flatMap { s =>
      AnyType.findAllMatchIn(s.text).map(_.group(1) -> s.folder).distinct
    }
    val rooms = types.groupMap(_._1)(_._2)
    assert(rooms.size > 700)
    val faults = rooms.collect {
      case (name, in) if in.distinct.size > 1 && !isOneConcept(name, in.toSet) =>
        s"$name: ${in.distinct.sorted.mkString(", ")}"
    }
    assert(faults.toSeq.sorted === Nil)
  }

  test("such names are found, and others are not") {
    val alike = Seq(
      "StoreWindow" -> "WindowStore",
      "StoredWindow" -> "StoreWindow",
      "GroupWindows" -> "WindowGroup",
      "KeyOrder" -> "KeyedOrder",
      "SlotCode" -> "SlotCodec",
      "Pages" -> "Panes"
    )
    val different = Seq("KeyOrder" -> "RowsOfKey", "SlotRing" -> "SlotProgram", "Max" -> "Min")
    assert(alike.filterNot { case (a, b) => areAlike(a, b) } === Nil)
    assert(different.filter { case (a, b) => areAlike(a, b) } === Nil)
  }
}

private object TypeNamesSuite {

  /** A type at the top level. Types inside others are read beside those. */
  val Type =
    """(?m)^(?:private(?:\[\w+\])? |final |sealed |abstract |implicit |case )*(?:class|trait|object) (\w+)""".r

  /** A type at any level. */
  private val AnyType =
    """(?m)^ *(?:private(?:\[\w+\])? |protected |final |sealed |abstract |implicit |case )*(?:class|trait|object) (\w+)""".r

  /**
   * A monoid of the library and its aggregate in SQL, an algorithm over slots and over values, a
   * copy for a type, and Spark's own word.
   */
  private def isOneConcept(name: String, rooms: Set[String]): Boolean =
    rooms == Set("scala/papers/algebra", "scala/spark/aggregates") || name == "OfDouble" ||
      rooms.map(_.replace("papers", "core")).size == 1 ||
      (name == "Append" && rooms == Set("scala/papers/fiba", "scala/spark/streams/program"))

  /** Names that are given: by papers, by SQL, or by another library. */
  val Allowed: Set[(String, String)] = Set(
    "FlatFat" -> "FlatFit",
    "First" -> "FirstN",
    "Last" -> "LastN",
    "Max" -> "MaxN",
    "Min" -> "MinN"
  )

  private val Word = "[A-Z]+(?![a-z])|[A-Z][a-z0-9]*".r

  private def words(name: String): Seq[String] = Word
    .findAllIn(name)
    .map(_.toLowerCase.replaceAll("(?<=...)(ed|s|ing|e)$", "").replaceAll("(?<=...)e$", ""))
    .toSeq
    .sorted

  def areAlike(a: String, b: String): Boolean = words(a) == words(b) || {
    val shared = a.zip(b).takeWhile { case (x, y) => x == y }.size
    val (restA, restB) = (a.drop(shared), b.drop(shared))
    a.length > 3 && b.length > 3 &&
    (restA.drop(1) == restB.drop(1) || restA.drop(1) == restB || restA == restB.drop(1))
  }

  /** Whether one is several of the other, beside it. */
  def isPlural(a: String, b: String, folders: Map[String, Seq[String]]): Boolean =
    (a == b + "s" || b == a + "s") && folders(a).exists(folders(b).contains)
}
