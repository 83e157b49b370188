package elsewhere;

import java.util.ArrayList;
import java.util.List;

import scala.Tuple2;

import io.sash.core.slots.Partials;
import io.sash.papers.algebra.Both;
import io.sash.papers.algebra.Max;
import io.sash.papers.algebra.Sum;
import io.sash.papers.algebra.Window;
import io.sash.papers.inorder.DabaLite;
import io.sash.papers.inorder.TwoStacksLite;
import io.sash.papers.policy.CountPolicy;
import io.sash.papers.policy.WindowByPolicy;

/** A user of the library, in Java. */
public final class FromJava {
  private FromJava() {}

  record Reading(double wind, long rain) {}

  static final class Sums extends Partials {
    final long[] cells = new long[64];

    @Override public void identity(int dst) { cells[dst] = 0; }

    @Override public void combine(int dst, int left, int right) {
      cells[dst] = Math.addExact(cells[left], cells[right]);
    }

    @Override public void copy(int dst, int src) { cells[dst] = cells[src]; }

    @Override public Partials grow(int slots) { return this; }
  }

  public static void main(String[] arguments) {
    agree(product(), new Tuple2<Object, Object>(7.0, 7L));
    agree(slots(), List.of(3L, 5L, 7L));
  }

  private static Object product() {
    Window<Reading, Tuple2<Object, Object>, ?> readings =
        TwoStacksLite.apply(
            Both.apply(
                Max.OfDouble$.MODULE$.on((Reading r) -> r.wind()),
                Sum.OfLong$.MODULE$.on((Reading r) -> r.rain())));
    readings.insert(new Reading(7.0, 2L));
    readings.insert(new Reading(3.0, 5L));
    return readings.query();
  }

  private static Object slots() {
    Sums sums = new Sums();
    List<Long> answers = new ArrayList<>();
    WindowByPolicy window =
        new WindowByPolicy(
            new DabaLite(sums), new CountPolicy(2, 1), slot -> answers.add(sums.cells[slot]));
    for (long value = 1; value <= 4; value++) {
      sums.cells[window.arrive(value)] = value;
      window.insert();
    }
    return answers.subList(1, 4);
  }

  private static void agree(Object answer, Object expected) {
    if (!answer.equals(expected)) throw new AssertionError(answer + ", not " + expected);
  }
}
