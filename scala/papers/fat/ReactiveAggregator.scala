package io.sash.papers.fat

import io.sash.core.elements.{QueueWindow, SlotRing}
import io.sash.core.slots.Partials
import io.sash.papers.algebra.OfAggregation
import io.sash.papers.elements.Removing

/**
 * The Reactive Aggregator. The leaves of a FlatFAT are a circular buffer, in which elements enter
 * at the back and leave from anywhere. A change is only noted. `query` (the paper's trigger) then
 * updates the tree for all changes at once.
 *
 * Elements have arrival numbers 0, 1, 2, … in the order of their insertion since the window was
 * made. `remove` takes an element out by its number. It leaves a ''hole'', which holds the
 * identity until the buffer is compacted. Places outside the window are never read. So a window
 * without holes, a FIFO window, pays for no marker ⊥ (section 5.2).
 *
 * The buffer grows and shrinks. A full buffer is compacted if at most three quarters of it are
 * elements, else doubled. When an element leaves and less than a quarter remains, the buffer is
 * halved, but not below its initial capacity, and its column shrinks. Open elements count as
 * elements and may move, so fill an open slot before the next call.
 *
 * Invariants, for positions F <= B <= E of the stream (front, back, end of the open elements):
 *  - (I1) position p lies in leaf p mod n + 1, and E - F <= n
 *  - (I2) position F is no hole unless F = B, and F … B-1 contain `holes` holes
 *  - (I3) arrival numbers ascend from F to B-1, holes included
 *  - (I4) a node whose leaves all lie in [F, settled) holds the aggregate of its leaves, unless
 *    it is above a leaf in `changed`
 *
 * Cost in combines: insert, evict and remove none. A query after m events takes at most
 * m(1 + ⌈log(n/m)⌉) to update the tree and 2 log n for the answer. Evictions from the front need
 * no update. A change of capacity or a compaction takes linear time, amortised O(1) an event.
 * Space: 2n slots for n places. At least a quarter of the places are taken, unless n is the
 * initial capacity, or `clear` or `discard` has emptied places: these two keep the capacity, and
 * each element that leaves afterwards halves it.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 5.
 *
 * @param initialCapacity the number of places at first, a power of two
 */
final class ReactiveAggregator(
    initial: Partials,
    initialCapacity: Int = SlotRing.InitialCapacity
) extends QueueWindow
    with Removing {
  private[this] var fat = new FlatFat(initial, initialCapacity)

  private[this] var settled = 0L

  // From the first removal in the middle on: the arrival number of each place, bitwise inverted
  // for a hole. Before that, positions are arrival numbers.
  private[this] var arrivals = Array.emptyLongArray
  private[this] var compacted = 0L // the number of holes that compactions removed
  private[this] var holes = 0

  private[this] var changed = Array.emptyIntArray // locations of holes that `fat` must update
  private[this] var changedLength = 0

  override def size: Int = (back - front).toInt - holes

  /** The number of places in the circular buffer. */
  def capacity: Int = fat.capacity

  /** The number of elements inserted since this window was made, and the next arrival number. */
  def inserted: Long = back + compacted

  override def column: Partials = fat.column

  override def relocate(move: Partials => Partials): Unit = fat.relocate(move)

  override def open(): Int = {
    if (end - front == capacity) makeRoom()
    val opened = fat.leaf(location(end))
    end += 1
    opened
  }

  override def insert(): Unit = {
    requireOpen(end - back)
    if (arrivals.length > 0) arrivals(place(back)) = back + compacted
    back += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    shrinkIfSparse()
    dropOldest()
  }

  private def dropOldest(): Unit = {
    front += 1
    while (holes > 0 && isHole(front)) {
      front += 1
      holes -= 1
    }
  }

  /**
   * Removes the element with this arrival number, anywhere in the window. Throws if it is not
   * there.
   */
  override def remove(arrival: Long): Unit = {
    val found = find(arrival)
    val position = if (shrinkIfSparse()) find(arrival) else found
    if (position == front) {
      dropOldest()
    } else {
      trackArrivals()
      if (position < settled) makeRoomForChange()
      arrivals(place(position)) = ~arrival
      holes += 1
      column.identity(fat.leaf(location(position)))
      if (position < settled) noteChange(location(position))
    }
  }

  override def query(): Int =
    if (front == back) {
      column.identity(FlatFat.Answer)
      FlatFat.Answer
    } else {
      settle()
      fat.range(location(front), location(back - 1))
    }

  override def clear(): Unit = {
    front = back
    settled = back
    end = back
    holes = 0
    changedLength = 0
  }

  override protected[this] def slot(position: Long): Int = fat.leaf(location(position))

  /** Updates the tree: first for removals since the last query, then for insertions. */
  private def settle(): Unit = {
    if (changedLength > 0) {
      fat.update(changed, changedLength, location(front), (settled - front).toInt)
      changedLength = 0
    }
    if (settled < back) {
      fat.append(front, settled, back)
      settled = back
    }
  }

  private def place(position: Long): Int = (position & (capacity - 1)).toInt

  private def location(position: Long): Int = place(position) + 1

  private def isHole(position: Long): Boolean = arrivals(place(position)) < 0

  private def arrivalAt(position: Long): Long =
    if (arrivals.length == 0) {
      position
    } else {
      val noted = arrivals(place(position))
      if (noted < 0) ~noted else noted
    }

  /**
   * The position of an arrival number, by binary search (I3). Throws if its element is not there.
   */
  private def find(arrival: Long): Long = {
    var low = front
    var high = back
    while (low < high) {
      val middle = (low + high) >>> 1
      if (arrivalAt(middle) < arrival) low = middle + 1 else high = middle
    }
    if (low == back || arrivalAt(low) != arrival || (holes > 0 && isHole(low))) {
      throw new NoSuchElementException(
        s"remove($arrival): no element of the window has this arrival number"
      )
    }
    low
  }

  private def trackArrivals(): Unit =
    if (arrivals.length == 0) {
      arrivals = new Array[Long](capacity)
      var p = front
      while (p < back) {
        arrivals(place(p)) = p
        p += 1
      }
    }

  private def makeRoomForChange(): Unit =
    if (changedLength == changed.length) {
      changed = java.util.Arrays.copyOf(changed, math.max(16, 2 * changedLength))
    }

  private def noteChange(location: Int): Unit = {
    changed(changedLength) = location
    changedLength += 1
  }

  private def makeRoom(): Unit =
    if (4L * (capacity - holes) <= 3L * capacity) {
      moveFrom(fat, arrivals)
    } else if (capacity < FlatFat.MaxCapacity) {
      resize(2 * capacity)
    } else {
      throw new IllegalStateException(
        s"a window holds at most ${FlatFat.MaxCapacity} partial aggregates"
      )
    }

  /**
   * Called before an element leaves, so that the element is still there if this fails. Returns
   * whether elements have moved.
   */
  private def shrinkIfSparse(): Boolean = {
    val sparse = capacity > initialCapacity && 4L * (end - front - holes - 1) < capacity
    if (sparse) resize(capacity / 2)
    sparse
  }

  /** Copies elements directly, since the new tree's leaves lie where the old tree has none. */
  private def resize(newCapacity: Int): Unit = {
    val (oldFat, oldArrivals) = (fat, arrivals)
    val newArrivals = if (oldArrivals.length > 0) new Array[Long](newCapacity) else oldArrivals
    fat = oldFat.resized(newCapacity)
    arrivals = newArrivals
    moveFrom(oldFat, oldArrivals)
    column.shrink(2 * newCapacity)
  }

  /** Moves all elements to consecutive positions from the front on, without the holes. */
  private def moveFrom(oldFat: FlatFat, oldArrivals: Array[Long]): Unit = {
    val oldPlaces = oldFat.capacity - 1L
    var to = front
    var p = front
    while (p < end) {
      val from = (p & oldPlaces).toInt
      if (holes == 0 || p >= back || oldArrivals(from) >= 0) {
        if (to != p || (oldFat ne fat)) column.copy(fat.leaf(location(to)), oldFat.leaf(from + 1))
        if (oldArrivals.length > 0) arrivals(place(to)) = oldArrivals(from)
        to += 1
      }
      p += 1
    }
    back -= holes
    end -= holes
    compacted += holes
    holes = 0
    settled = front
    changedLength = 0
  }

  private[papers] def checkInvariants(isCombined: (Int, Int, Int) => Boolean): Unit = {
    assert(front <= back && back <= end && end - front <= capacity, "(I1)")
    val places = (front until back).map(place)
    val gone = if (arrivals.length == 0) 0 else places.count(arrivals(_) < 0)
    assert(gone == holes && (front == back || holes == 0 || !isHole(front)), "(I2)")
    val numbers = (front until back).map(arrivalAt)
    assert(numbers.zip(numbers.drop(1)).forall { case (a, b) => a < b }, "(I3)")
    assert(numbers.forall(_ < inserted), "(I3)")
    assert(changedLength > 0 || fat.allCombined(front, settled, isCombined), "(I4)")
  }
}

object ReactiveAggregator
    extends OfAggregation[ReactiveAggregator](new ReactiveAggregator(_, SlotRing.InitialCapacity))
