"""Random correlated aggregates over a range, with Sash and without: the rows are the same.

Run as a program, with a number of rounds and a seed, it asks through Spark Connect.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

import client
from sash.plan import explanation
from windows import setting


@dataclass(frozen=True)
class Time:
    """A type to order events by: some of its values, and the spans that it can be moved by."""

    values: list[str]
    spans: list[str]
    own: str


TIMES = {
    "TIMESTAMP": Time(
        [f"TIMESTAMP'2026-03-{d} {h:02d}:00:00'" for d in (28, 29, 30) for h in (0, 1, 3, 12)],
        ["INTERVAL 3 HOURS", "INTERVAL 1 DAY", "INTERVAL '1' MONTH"],
        "make_dt_interval(0, w)",
    ),
    "TIMESTAMP_NTZ": Time(
        [f"TIMESTAMP_NTZ'2026-02-28 {h:02d}:00:00'" for h in range(12)],
        ["INTERVAL 3 HOURS", "INTERVAL 1 DAY"],
        "make_dt_interval(0, w)",
    ),
    "DATE": Time([f"DATE'2026-02-{d}'" for d in range(16, 29)], ["INTERVAL 2 DAYS", "3"], "w"),
    "BIGINT": Time([str(n) for n in range(13)], ["3", "0", "5"], "w"),
    "DECIMAL(10,2)": Time([f"{n}.25" for n in range(13)], ["2.5", "0.01"], "w"),
    "DOUBLE": Time(["0.0", "-0.0", "1", "2", "'NaN'", "'Infinity'", "0.1"], ["3", "0.1D"], "w"),
}
KEYS = {"INT": ["1", "2", "NULL"], "STRING": ["'x'", "'y'", "NULL"]}
AGGREGATES = [
    "count(*)",
    "sum(e.x)",
    "avg(e.x)",
    "max(e.x)",
    "min(e.s)",
    "count(DISTINCT e.x)",
    "sum(e.x) FILTER (WHERE e.b)",
    "median(e.x)",
    "sort_array(collect_list(e.x))",
    "max(struct(e.x, e.s))",
    "coalesce(sum(e.x), 0) + count(*)",
]


class Draw:
    """The tables and the text of one random query."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.type = self.random.choice(list(TIMES))
        self.time = TIMES[self.type]
        self.keys = [self.random.choice(list(KEYS)) for _ in range(self.random.randrange(3))]

    def is_one_in(self, n: int) -> bool:
        return self.random.randrange(n) == 0

    def table(self, rows: int, more: dict[str, tuple[str, list[str]]]) -> str:
        columns = {f"k{i}": (key, KEYS[key]) for i, key in enumerate(self.keys)}
        columns |= {"t": (self.type, [*self.time.values, "NULL"]), **more}
        drawn = [
            ", ".join(f"CAST({self.random.choice(v)} AS {t})" for t, v in columns.values())
            for _ in range(rows)
        ]
        values = ", ".join(f"({row})" for row in drawn)
        return f"SELECT * FROM VALUES {values} AS r({', '.join(columns)})"

    def labels(self) -> str:
        more = {"id": ("INT", [str(n) for n in range(9)]), "w": ("INT", ["1", "2", "NULL", "-1"])}
        return self.table(self.random.choice([2, 12]), more)

    def events(self) -> str:
        more = {
            "x": ("INT", ["1", "2", "3", "-4", "NULL"]),
            "s": ("STRING", ["'p'", "'q'", "NULL"]),
            "b": ("BOOLEAN", ["true", "false", "NULL"]),
        }
        return self.table(25, more)

    def bound(self) -> str:
        span = self.random.choice(self.time.spans)
        return self.random.choice(
            ["l.t", "l.t", f"l.t - {span}", f"l.t + {span}", f"l.t - {self.time.own}"]
        )

    def range(self) -> list[str]:
        lower, upper = self.random.choice([">", ">="]), self.random.choice(["<", "<="])
        both = [f"e.t {lower} {self.bound()}", f"e.t {upper} {self.bound()}"]
        return self.random.choice(
            [both, both, both[:1], both[1:], [f"e.t BETWEEN {self.bound()} AND {self.bound()}"]]
        )

    def subquery(self, columns: list[str]) -> str:
        equal = [
            f"e.k{i} {self.random.choice(['=', '=', '<=>'])} l.k{i}"
            for i in range(len(self.keys))
            if not self.is_one_in(5)
        ]
        more = [c for c in ["e.x > 0", "e.b", "l.id < 7"] if self.is_one_in(6)]
        where = " AND ".join([*equal, *self.range(), *more])
        return f"SELECT {', '.join(columns)} FROM events e WHERE {where}"

    def reading(self, before: str, query: str, count: str) -> str:
        """The query, which perhaps reads the number of events that the one before has counted."""
        read = f"{before}.c{before[1:]}"
        return self.random.choice(
            [
                query,
                f"{query} AND {read} > 1",
                f"{query} HAVING count(*) >= {read}",
                f"SELECT *, z.{count} * {read} FROM ({query}) z",
                f"SELECT * FROM ({query}) z WHERE z.{count} <= {read}",
            ]
        )

    def lateral(self, n: int) -> str:
        if self.is_one_in(4):
            direction = self.random.choice(["DESC", "ASC"])
            last = self.subquery([f"e.t AS t{n}", f"1 AS c{n}"])
            limit = self.random.choice([1, 1, 2, 3])
            query = f"{last} ORDER BY e.t {direction} LIMIT {limit}"
        else:
            some = self.random.choices(AGGREGATES, k=self.random.randint(1, 3))
            columns = [f"{a} AS a{n}_{i}" for i, a in enumerate(some)]
            query = self.subquery([*columns, f"count(*) AS c{n}"])
            if n > 0:
                query = self.reading(f"f{n - 1}", query, f"c{n}")
        join = self.random.choice(["JOIN LATERAL ({}) f{}", "LEFT JOIN LATERAL ({}) f{} ON true"])
        return join.format(query, n)

    def query(self) -> str:
        shape = self.random.randrange(4)
        if shape == 0:
            column = self.subquery([self.random.choice(AGGREGATES)])
            return f"SELECT l.*, ({column}) AS q FROM labels l"
        if shape == 1:
            any_row = f"EXISTS ({self.subquery(['1'])})"
            count = f"({self.subquery(['count(*)'])}) > 1"
            condition = self.random.choice([count, any_row, f"NOT {any_row}"])
            return f"SELECT * FROM labels l WHERE {condition}"
        joins = [self.lateral(n) for n in range(self.random.randint(1, 3))]
        return f"SELECT * FROM labels l {' '.join(joins)}"


def check(spark: SparkSession, rounds: int, seed: int) -> int:
    """Compare the answers of random queries; return how many ran as windows.

    Small tables are filtered, too. At least every tenth query leaves out events of no label.
    A query that Spark cannot run is left out: the server of a test checks Spark's optimizer,
    whose rule "Pullup Correlated Expressions" changes some plans twice.
    """
    ran, filtered = 0, 0
    spark.conf.set("spark.sash.lateral.filterThreshold", "0")
    for n in range(rounds):
        draw = Draw(f"{seed} {n}")
        spark.sql(draw.labels()).repartition(2).createOrReplaceTempView("labels")
        spark.sql(draw.events()).repartition(3).createOrReplaceTempView("events")
        query = draw.query()
        with setting(spark, "spark.sash.enabled", "false"):
            try:
                expected = spark.sql(query).collect()
            except PySparkException as error:
                if "idempotence" not in str(error):
                    raise
                continue
        df = spark.sql(query)
        assert _sorted(df.collect()) == _sorted(expected), f"seed {seed}, query {n}: {query}"
        told = explanation(df)
        ran += "SlidingWindow" in told
        filtered += "not exchanged" in told
    spark.conf.unset("spark.sash.lateral.filterThreshold")
    assert filtered >= rounds / 10
    return ran


def _sorted(rows: list[Row]) -> list[str]:
    return sorted(str(tuple(row)) for row in rows)


if __name__ == "__main__":
    client.main(check)
