"""How many of a customer's most recent orders fit into a budget of 100?

    spark-submit --jars $(python -m sash jar) examples/budget.py

The window has no length. It ends where a condition on an aggregate of its own rows begins to
hold: the longest run of most recent orders whose sum is at most 100. SQL has no frame for it.

Seen are a customer's orders: ``orders`` and ``spent`` are those that fit, and ``since`` is the
day of the oldest of them. An order that is dearer than the budget leaves an empty window: 0
orders, and NULL spent. All answers are computed again by a queue in plain Python.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from helpers.session import options, session
from helpers.timing import step

BUDGET = 100


def made_up_orders(number: int, seed: int = 2019) -> pd.DataFrame:
    """Orders of customers who order a few times a month, for a few tens of money."""
    random = np.random.default_rng(seed)
    minutes = np.sort(random.choice(60 * 24 * 365, number, replace=False))
    cents = np.round(random.lognormal(3.3, 0.7, number) * 100).astype(int)
    return pd.DataFrame(
        {
            "customer": random.choice(["Ann", "Bo", "Cy", "Di", "Ed"], number),
            "ordered": np.datetime64("2026-01-01", "us") + minutes.astype("timedelta64[m]"),
            "price": [Decimal(int(c)) / 100 for c in cents],
        }
    )


def within_budget(orders: DataFrame) -> DataFrame:
    """Each order with those most recent ones, itself included, that cost at most the budget."""
    window = sash.SlidingWindow.partitionBy("customer").orderBy("ordered")
    affordable = window.predicate("sum", lambda total: total <= BUDGET, col="price")
    return orders.select(
        "*",
        sash.sliding_agg("price", "count", affordable).alias("orders"),
        sash.sliding_agg("price", "sum", affordable).alias("spent"),
        sash.sliding_agg("ordered", "min", affordable).alias("since"),
    )


def by_queue(prices: Sequence[Decimal]) -> Iterator[tuple[int, Decimal | None]]:
    """The same in plain Python: number and sum of the most recent prices within the budget."""
    queue: deque[Decimal] = deque()
    for price in prices:
        queue.append(price)
        while queue and sum(queue) > BUDGET:
            queue.popleft()
        yield len(queue), sum(queue, Decimal(0)) if queue else None


def check(answers: pd.DataFrame) -> None:
    """Compare all answers with the queue's."""
    for customer, orders in answers.groupby("customer"):
        ours = list(zip(orders.orders, orders.spent, strict=True))
        assert ours == list(by_queue(orders.price)), customer


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Answer, check, show."""
    parser = options(__doc__)
    parser.add_argument("--orders", type=int, default=1_000, help="how many orders to make up")
    given = parser.parse_args(arguments)

    with step(f"Making up {given.orders:,} orders"):
        made = made_up_orders(given.orders)
        orders = spark.createDataFrame(
            made, "customer STRING, ordered TIMESTAMP, price DECIMAL(9,2)"
        )
    with step(f"The orders within a budget of {BUDGET}, at each order"):
        answers = within_budget(orders).orderBy("customer", "ordered").cache()
        rows = answers.toPandas()
    check(rows)
    print(f"{len(rows):,} answers agree with a queue in Python.\n")
    answers.where("customer = 'Di'").withColumns(
        {column: F.date_format(column, "d MMM") for column in ("ordered", "since")}
    ).show(20)


if __name__ == "__main__":
    main(session("budget"), sys.argv[1:])
