package io.sash.papers.algebra;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.sash.core.elements.InOrderWindow;
import io.sash.core.slots.Partials;
import io.sash.papers.fat.BaseIntervals;
import io.sash.papers.fat.ReactiveAggregator;
import io.sash.papers.fiba.Fiba;
import io.sash.papers.inorder.DabaLite;
import io.sash.papers.inorder.SlickDequeInv;
import io.sash.papers.inorder.TwoStacksLite;
import io.sash.papers.mta.Amta;
import io.sash.papers.policy.CountPolicy;
import io.sash.papers.policy.ValuesByPolicy;

/** The Java of docs/papers.md, for PapersDocSuite to run. */
final class JavaUser {
  private JavaUser() {}

  static double values() {
    Window<Object, Object, ?> window = TwoStacksLite.apply(Max.OfDouble$.MODULE$);
    window.insert(3.0);
    window.insert(1.0);
    window.evict();
    double max = (Double) window.query();
    return max;
  }

  static Report product() {
    var readings =
        TwoStacksLite.apply(
            Fields.apply(
                Max.OfDouble$.MODULE$.on((Reading r) -> r.wind()),
                ArithmeticMean.OfLong$.MODULE$.on((Reading r) -> r.rain()),
                (gust, rain) -> new Report((double) gust, (double) rain)));
    readings.insert(new Reading(7.0, 2L));
    readings.insert(new Reading(3.0, 5L));
    Report report = readings.query();
    return report;
  }

  static String functions() {
    var longest =
        TwoStacksLite.apply(
            OfFunctions.apply(0, (String word) -> word.length(), Math::max, n -> n)
                .map(n -> n + " letters"));
    for (String word : List.of("sash", "window")) longest.insert(word);
    String letters = longest.query();
    return letters;
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

  static List<Object> abilities() {
    var amta = Amta.apply(Sum.OfLong$.MODULE$);
    for (long n = 1; n <= 100; n++) amta.insert(n);
    amta.algorithm().evict(90);
    amta.algorithm()
        .evict((total, prefix) -> (long) amta.answer(total) - (long) amta.answer(prefix) >= 500);
    long kept = (long) amta.query();

    var reactive = ReactiveAggregator.apply(Concatenate$.MODULE$);
    for (String letter : List.of("a", "b", "c")) reactive.insert(letter);
    reactive.algorithm().remove(1L);
    String others = reactive.query();

    var prices = BaseIntervals.apply(Sum.OfJavaBigDecimal$.MODULE$);
    for (String price : List.of("0.1", "0.2", "0.3")) prices.insert(new BigDecimal(price));
    BigDecimal two = prices.answer(prices.algorithm().range(1, 3));
    List<BigDecimal> each = new ArrayList<>();
    for (int i = 0; i < prices.size(); i++) {
      each.add(prices.answer(prices.algorithm().element(i)));
    }

    var goesOn = SlickDequeInv.apply(Sum.OfJavaBigDecimal$.MODULE$);
    Snapshot.restore(goesOn, Snapshot.of(prices));
    BigDecimal all = goesOn.query();

    return List.of(kept, others, two, each, all);
  }

  static String policies() {
    List<Object> hottest = new ArrayList<>();
    var byCount =
        new ValuesByPolicy<>(
            DabaLite.apply(Max.OfDouble$.MODULE$), new CountPolicy(3, 1), hottest::add);
    for (double value : new double[] {3.0, 1.0, 4.0, 1.0, 5.0}) byCount.insert(0L, value);

    var byTime = Fiba.apply(Concatenate$.MODULE$, 4);
    for (long time : new long[] {3, 1, 2}) byTime.insert(time, "at " + time + " ");
    byTime.remove(2L);
    StringBuilder log = new StringBuilder();
    byTime.foreach((time, text) -> log.append(text));

    return hottest + " " + log;
  }
}

record Reading(double wind, long rain) {}

record Report(double gust, double rain) {}

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
