package elsewhere;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sash.core.elements.InOrderWindow;
import io.sash.core.slots.Bytes;
import io.sash.core.stored.KeyValueStore;
import io.sash.papers.algebra.Concatenate$;
import io.sash.papers.algebra.Count;
import io.sash.papers.algebra.Fields;
import io.sash.papers.algebra.Max;
import io.sash.papers.algebra.OfFunctions;
import io.sash.papers.algebra.Snapshot;
import io.sash.papers.algebra.Sum;
import io.sash.papers.algebra.Window;
import io.sash.papers.elements.BulkEviction;
import io.sash.papers.fat.BaseIntervals;
import io.sash.papers.fat.ReactiveAggregator;
import io.sash.papers.fiba.Fiba;
import io.sash.papers.inorder.DabaLite;
import io.sash.papers.inorder.SlickDequeInv;
import io.sash.papers.inorder.SlickDequeNonInv;
import io.sash.papers.inorder.TwoStacksLite;
import io.sash.papers.mta.Amta;
import io.sash.papers.policy.CountPolicy;
import io.sash.papers.policy.TimePolicy;
import io.sash.papers.policy.ValuesByPolicy;
import io.sash.papers.stored.KvsAmta;

/** A program of an outsider for each ability of a window, in Java. */
public final class EachAbilityInJava {
  private EachAbilityInJava() {}

  record Trade(BigDecimal price, float amount) {}

  record Summary(BigDecimal turnover, double amount, long trades) {}

  public static void main(String[] arguments) {
    bulkEviction();
    eviction();
    removal();
    ranges();
    policies();
    maps();
    functions();
    sums();
    fields();
    iteration();
    snapshots();
    stored();
  }

  /** Works for every window that evicts in bulk, and for no other. */
  static <A extends InOrderWindow & BulkEviction> void halve(Window<?, ?, A> window) {
    window.algorithm().evict(window.size() / 2);
  }

  private static void bulkEviction() {
    var window = Amta.apply(Sum.OfLong$.MODULE$);
    for (long n = 1; n <= 10; n++) window.insert(n);
    halve(window);
    agree(window.query(), 6L + 7 + 8 + 9 + 10);
  }

  private static void eviction() {
    var window = Amta.apply(Sum.OfLong$.MODULE$);
    for (long n = 1; n <= 10; n++) window.insert(n);
    window.algorithm()
        .evict((all, oldest) -> (long) window.answer(all) - (long) window.answer(oldest) >= 20);
    agree(window.size() + " " + window.query(), "3 27");
  }

  private static void removal() {
    var window = ReactiveAggregator.apply(Max.OfDouble$.MODULE$);
    for (double value : new double[] {3, 9, 4}) window.insert(value);
    window.algorithm().remove(1L);
    agree(window.query(), 4.0);
    var byTime = Fiba.apply(Max.OfDouble$.MODULE$, 4);
    for (double value : new double[] {30, 10, 20}) byTime.insert((long) value, value);
    byTime.remove(30L);
    agree(byTime.query(), 20.0);
  }

  private static void ranges() {
    var any = BaseIntervals.apply(Concatenate$.MODULE$);
    var latest = SlickDequeNonInv.apply(Max.OfLong$.MODULE$);
    for (String letter : List.of("c", "a", "b")) {
      any.insert(letter);
      latest.insert((long) letter.charAt(0));
    }
    agree(any.answer(any.algorithm().range(0, 2)), "ca");
    agree(latest.answer(latest.algorithm().query(2)), (long) 'b');
  }

  private static void policies() {
    List<Object> answers = new ArrayList<>();
    var time = new TimePolicy(9, 10);
    var window = new ValuesByPolicy<>(DabaLite.apply(Sum.OfLong$.MODULE$), time, answers::add);
    for (long second : new long[] {1, 5, 12, 31}) window.insert(second, second);
    window.punctuate(Long.MAX_VALUE);
    agree(answers, List.of(6L, 12L, 31L));
    var late =
        new ValuesByPolicy<>(
            Fiba.apply(Sum.OfLong$.MODULE$, 4), new CountPolicy(2, 2), answers::add);
    for (long second : new long[] {3, 1}) late.insert(second, second);
    agree(answers.get(3), 4L);
  }

  private static void maps() {
    var window =
        SlickDequeNonInv.apply(
            Max.OfDouble$.MODULE$.map(celsius -> (double) celsius * 1.8 + 32 + " °F"));
    for (double value : new double[] {10, 20, 15}) window.insert(value);
    agree(window.query(), "68.0 °F");
  }

  private static void functions() {
    var longest =
        OfFunctions.apply(
            "",
            (String word) -> word,
            (older, younger) -> younger.length() > older.length() ? younger : older,
            word -> word.length());
    var window = TwoStacksLite.apply(longest);
    for (String word : List.of("sash", "window", "slides")) window.insert(word);
    agree(window.query(), 6);
  }

  private static void sums() {
    var floats = TwoStacksLite.apply(Sum.OfFloat$.MODULE$);
    for (float value : new float[] {1e8f, 1, 1}) floats.insert(value);
    agree(floats.query(), 100000002.0);
    var decimals = SlickDequeInv.apply(Sum.OfJavaBigDecimal$.MODULE$);
    for (String text : List.of("0.1", "0.2", "0.3")) decimals.insert(new BigDecimal(text));
    decimals.evict();
    agree(decimals.query(), new BigDecimal("0.5"));
  }

  private static void fields() {
    var all =
        TwoStacksLite.apply(
            Fields.apply(
                Sum.OfJavaBigDecimal$.MODULE$.on((Trade t) -> t.price()),
                Sum.OfFloat$.MODULE$.on((Trade t) -> t.amount()),
                new Count<Trade>(),
                (price, amount, trades) ->
                    new Summary(price, (double) amount, (long) trades)));
    all.insert(new Trade(new BigDecimal(2), 1.5f));
    all.insert(new Trade(new BigDecimal(3), 2f));
    agree(all.query(), new Summary(new BigDecimal(5), 3.5, 2));
  }

  private static void iteration() {
    var window = SlickDequeInv.apply(Sum.OfLong$.MODULE$);
    for (long value : new long[] {3, 1, 4}) window.insert(value);
    List<Object> each = new ArrayList<>();
    for (int i = 0; i < window.size(); i++) {
      each.add(window.answer(window.algorithm().element(i)));
    }
    agree(each, List.of(3L, 1L, 4L));
    var byTime = Fiba.apply(Concatenate$.MODULE$, 4);
    byTime.bulkInsert(new long[] {1, 2}, new String[] {"a", "b"});
    StringBuilder seen = new StringBuilder();
    byTime.foreach((time, letter) -> seen.append(time).append(letter));
    agree(seen.toString(), "1a2b");
  }

  private static void snapshots() {
    var window = SlickDequeInv.apply(Sum.OfLong$.MODULE$);
    for (long value : new long[] {3, 1, 4}) window.insert(value);
    byte[] saved = Snapshot.of(window);
    window.clear();
    var again = TwoStacksLite.apply(Sum.OfLong$.MODULE$);
    Snapshot.restore(again, saved);
    again.evict();
    agree(again.query(), 5L);
  }

  static final class Nodes implements KeyValueStore {
    private final Map<String, byte[]> nodes = new HashMap<>();

    @Override public void put(int level, long first, byte[][] values) {
      for (int i = 0; i < values.length; i++) nodes.put(level + " " + (first + i), values[i]);
    }

    @Override public byte[][] get(int level, long first, int count) {
      byte[][] values = new byte[count][];
      for (int i = 0; i < count; i++) values[i] = nodes.get(level + " " + (first + i));
      return values;
    }

    @Override public void remove(int level, long from, long until) {
      for (long number = from; number < until; number++) nodes.remove(level + " " + number);
    }
  }

  private static void stored() {
    Nodes nodes = new Nodes();
    var window = KvsAmta.apply(Max.OfLong$.MODULE$, nodes, 5);
    for (long n = 1; n <= 1000; n++) window.insert(n);
    window.algorithm().evict(900);
    Bytes header = new Bytes();
    window.algorithm().write(header);
    var again = KvsAmta.apply(Max.OfLong$.MODULE$, nodes, 5);
    again.algorithm().read(ByteBuffer.wrap(header.toArray()));
    agree(again.size() + " " + again.query(), "100 1000");
  }

  private static void agree(Object answer, Object expected) {
    if (!answer.equals(expected)) throw new AssertionError(answer + ", not " + expected);
  }
}
