"""A monoid of your own: the largest loss that a shareholder could have made within a year.

    spark-submit --jars $(python -m sash jar) examples/own_monoid.py

The drawdown of a time series is its largest fall from a price to a later one, relative to the
former. It depends on the order of the prices, and no price can be taken back from it, yet it
slides: the drawdown of two neighbouring parts is that of one of them, or the fall from the
highest price of the older part to the lowest of the younger one. So a partial aggregate is the
highest price, the lowest and the drawdown; ``sash.testing.check_monoid`` finds nothing wrong.

The wrong one keeps the highest price and the drawdown only. Given prices one by one it would be
right, and that is how it would be tested; but windows combine parts of many prices, and then it
forgets how low the younger part fell. check_monoid shows three prices that tell.

The prices are those of five shares in PyPI's ``bokeh-sampledata``. Seen are each share's worst
year, and a chart. Some of the answers are computed again in plain Python.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from helpers.charts import BLUE, GREEN, GREY, ORANGE, RED, chart
from helpers.session import options, session
from helpers.timing import step

COLOURS = {"AAPL": BLUE, "FB": RED, "GOOG": GREEN, "IBM": ORANGE, "MSFT": GREY}
CHECKED = 100


def fall(high: Column, low: Column) -> Column:
    """How far it is down from one price to another; 0 if it is up."""
    return F.greatest(1 - low / high, F.lit(0.0))


drawdown = sash.Monoid(
    lift=lambda price: F.struct(
        price.alias("high"), price.alias("low"), F.lit(0.0).alias("drawdown")
    ),
    combine=lambda older, younger: F.struct(
        F.greatest(older.high, younger.high).alias("high"),
        F.least(older.low, younger.low).alias("low"),
        F.greatest(older.drawdown, younger.drawdown, fall(older.high, younger.low)).alias(
            "drawdown"
        ),
    ),
    lower=lambda partial: partial.drawdown,
)

forgets_the_low = sash.Monoid(
    lift=lambda price: F.struct(price.alias("high"), F.lit(0.0).alias("drawdown")),
    combine=lambda older, younger: F.struct(
        F.greatest(older.high, younger.high).alias("high"),
        F.greatest(older.drawdown, younger.drawdown, fall(older.high, younger.high)).alias(
            "drawdown"
        ),
    ),
    lower=lambda partial: partial.drawdown,
)


def read(spark: SparkSession, shares: Sequence[str]) -> DataFrame:
    """Daily prices, with splits and dividends taken into account."""
    from bokeh_sampledata import stocks

    prices = pd.concat(
        pd.DataFrame(
            {
                "share": share,
                "day": pd.to_datetime(getattr(stocks, share)["date"]).date,
                "price": getattr(stocks, share)["adj_close"],
            }
        )
        for share in shares
    )
    return spark.createDataFrame(prices, "share STRING, day DATE, price DOUBLE")


def drawdown_of_year(prices: DataFrame) -> DataFrame:
    """Each price with the drawdown of the 365 days up to it."""
    year = sash.SlidingWindow.partitionBy("share").orderBy("day").time("365 days")
    return prices.select("*", sash.sliding_agg("price", drawdown, year).alias("drawdown"))


def counterexample(prices: DataFrame, monoid: sash.Monoid) -> str | None:
    """What check_monoid finds, if anything."""
    try:
        sash.testing.check_monoid(prices.select("price"), monoid)
    except AssertionError as found:
        return str(found)
    return None


def check(answers: pd.DataFrame) -> None:
    """Compare some of the answers with those of two loops."""
    for row in answers.sample(min(CHECKED, len(answers)), random_state=0).itertuples():
        age = pd.to_datetime(row.day) - pd.to_datetime(answers.day)
        window = answers[(answers.share == row.share) & age.between("0 days", "365 days")]
        prices = list(window.sort_values("day").price)
        highest, deepest = prices[0], 0.0
        for price in prices:
            highest = max(highest, price)
            deepest = max(deepest, 1 - price / highest)
        assert abs(row.drawdown - deepest) <= 1e-9, row


def draw(answers: pd.DataFrame, path: Path) -> None:
    """Each share's drawdown, below zero."""
    with chart(path, "Largest loss within the last 365 days") as [axes]:
        for share, rows in answers.groupby("share"):
            days, loss = pd.to_datetime(rows.day), -100 * rows.drawdown
            axes.plot(days, loss, color=COLOURS[share], lw=2, label=share)
        axes.set(ylabel="%", ylim=(None, 0))


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Check the laws, answer, check the answers, show, draw."""
    parser = options(__doc__, "own_monoid.png")
    parser.add_argument("--shares", nargs="+", choices=[*COLOURS], default=[*COLOURS])
    given = parser.parse_args(arguments)

    prices = read(spark, given.shares).cache()
    with step("Looking for prices that break the laws"):
        right = counterexample(prices, drawdown)
        wrong = counterexample(prices, forgets_the_low)
    print(f"drawdown: {right or 'no counterexample'}")
    print(f"forgets_the_low: {wrong or 'no counterexample'}\n")

    with step("The drawdown of the last year, at each day"):
        answers = drawdown_of_year(prices).orderBy("share", "day").cache()
        rows = answers.toPandas()
    check(rows)
    print(f"{min(CHECKED, len(rows))} answers agree with a loop in Python over their prices.\n")
    print("Each share's worst year")
    answers.groupBy("share").agg(
        F.max_by("day", "drawdown").alias("until"),
        F.round(100 * F.max("drawdown"), 1).alias("loss (%)"),
    ).orderBy(F.desc("loss (%)")).show()
    draw(rows, given.chart)


if __name__ == "__main__":
    main(session("own_monoid"), sys.argv[1:])
