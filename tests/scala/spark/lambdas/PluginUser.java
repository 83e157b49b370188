package io.sash.spark.lambdas;

import static org.apache.spark.sql.functions.call_function;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.expressions.Window;
import org.apache.spark.sql.expressions.WindowSpec;
import org.apache.spark.sql.functions;

import io.sash.core.algebra.Aggregation;

/** The Java of docs/installation.md and own-aggregates.md, for PluginDocSuite to run. */
final class PluginUser {
  private PluginUser() {}

  static Dataset<Row> sessions(Dataset<Row> readings) {
    WindowSpec session =
        Window.partitionBy(col("sensor"), call_function("gap_window", lit("30 minutes")))
            .orderBy(col("ts"));
    return readings.select(count("*").over(session).as("n"));
  }

  static void register(SparkSession spark) {
    CoreAggregator<String, String, Integer> longest =
        new CoreAggregator<>(new Longest(), Encoders.STRING(), Encoders.INT());
    spark.udf().register("longest_in_java", functions.udaf(longest, Encoders.STRING()));
  }

  static final class Longest implements Aggregation<String, String, Integer> {
    @Override public String identity() { return ""; }

    @Override public String lift(String in) { return in; }

    @Override public String combine(String older, String younger) {
      return younger.length() > older.length() ? younger : older;
    }

    @Override public Integer lower(String longest) { return longest.length(); }
  }
}
