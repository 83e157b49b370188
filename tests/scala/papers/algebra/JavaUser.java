package io.sash.papers.algebra;

import java.util.Arrays;

import scala.Tuple2;

import io.sash.core.elements.InOrderWindow;
import io.sash.core.slots.Partials;
import io.sash.papers.inorder.TwoStacksLite;

/** The Java of docs/papers.md, for PapersDocSuite to run. */
final class JavaUser {
  private JavaUser() {}

  static double values() {
    Window<Object, Object> window = TwoStacksLite.apply(Max.OfDouble$.MODULE$);
    window.insert(3.0);
    window.insert(1.0);
    window.evict();
    double max = (Double) window.query();
    return max;
  }

  static Tuple2<Object, Object> product() {
    Window<Reading, Tuple2<Object, Object>> readings =
        TwoStacksLite.apply(
            Both.of(
                On.ofSelective(Max.OfDouble$.MODULE$, (Reading r) -> r.wind()),
                On.ofInvertible(ArithmeticMean.OfLong$.MODULE$, (Reading r) -> r.rain())));
    readings.insert(new Reading(7.0, 2L));
    readings.insert(new Reading(3.0, 5L));
    return readings.query();
  }

  static String slots() {
    Longest longest = new Longest();
    InOrderWindow words = new io.sash.core.inorder.TwoStacksLite(longest);
    for (String word : new String[] {"sash", "window", "slides"}) {
      int slot = words.open(); // may replace cells by a longer array
      longest.cells[slot] = word;
      words.insert();
    }
    String answer = longest.cells[words.query()];
    return answer;
  }
}

record Reading(double wind, long rain) {}

final class Longest extends Partials {
  String[] cells = new String[0];

  @Override public void identity(int dst) { cells[dst] = ""; }

  @Override public void combine(int dst, int left, int right) {
    cells[dst] = cells[right].length() > cells[left].length() ? cells[right] : cells[left];
  }

  @Override public void copy(int dst, int src) { cells[dst] = cells[src]; }

  @Override public Partials grow(int slots) {
    if (slots > cells.length) cells = Arrays.copyOf(cells, slots);
    return this;
  }
}
