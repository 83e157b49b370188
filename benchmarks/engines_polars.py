"""Polars, from a frame in memory to a frame. It takes the rows' order from the input."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from cells import Query

COLUMN = {"sum": "x", "max": "x", "stddev": "x", "sum_bigint": "n"}


class PolarsEngine:
    """A data frame in memory; the environment says with how many threads."""

    def __init__(self, cores: int) -> None:
        assert os.environ["POLARS_MAX_THREADS"] == str(cores)
        self._frame = pl.DataFrame()

    def load(self, data: Path) -> None:
        """Into a frame."""
        self._frame = pl.read_parquet(data).rechunk()

    def version(self) -> dict[str, str]:
        """Polars' version."""
        return {"Polars": pl.__version__}

    def check(self, query: Query) -> None:
        """Its one way to run a window needs no check."""

    def run(self, query: Query) -> None:
        """The whole column of answers."""
        self._frame.select(_rolling(query).over("k").alias("r"))


def _rolling(query: Query) -> pl.Expr:
    column, w = pl.col(COLUMN[query.aggregate]), query.window
    if query.frame == "rows":
        return {
            "sum": column.rolling_sum(w, min_samples=1),
            "sum_bigint": column.rolling_sum(w, min_samples=1),
            "max": column.rolling_max(w, min_samples=1),
            "stddev": _rolling_std(column, w),
        }[query.aggregate]
    seconds = f"{w}s"  # (t - w, t]: the second w before the row's is left out
    return {
        "sum": column.rolling_sum_by("ts", seconds),
        "sum_bigint": column.rolling_sum_by("ts", seconds),
        "max": column.rolling_max_by("ts", seconds),
        "stddev": column.rolling_std_by("ts", seconds),
    }[query.aggregate]


def _rolling_std(column: pl.Expr, window: int) -> pl.Expr:
    return column.rolling_std(window, min_samples=1)
