"""Labels joined with their events, one row for each pair: for conditions that read both rows.

Spark joins them by their keys. The pairs are events again, whose keys are the label's columns.
"""

from __future__ import annotations

from functools import reduce
from operator import and_

from pyspark.sql import Column

from sash.errors import type_error, value_error
from sash.label_columns import column, has, is_among
from sash.label_tables import Key, Tables


class Pairs:
    """The pairs of some labels and events."""

    def __init__(self, tables: Tables) -> None:
        """The names by which the pairs have the label's columns are found on the way."""
        self._tables = tables
        self._names: dict[str, str] = {}

    def label(self, name: str) -> Column:
        """A column of the label."""
        labels = self._tables.labels
        if not isinstance(name, str):
            raise type_error("label", "the name of a column of the labels", name)
        if not has(labels, name):
            expected = f"a column of the labels ({', '.join(labels.columns)})"
            raise value_error("label", expected, name)
        known = next((other for other in self._names if is_among(labels, name, [other])), name)
        return column(self._names.setdefault(known, f"{self._tables.alias}_of_{known}"))

    def where(self, condition: Column) -> Tables:
        """The tables with the pairs of equal keys that meet a condition as events."""
        tables = self._tables
        keys = [key.equal(self.label(key.of_label)) for key in tables.keys]
        labels = tables.labels.select(*(column(of).alias(to) for of, to in self._names.items()))
        return tables._replace(
            events=tables.events.join(labels.distinct(), reduce(and_, [*keys, condition])),
            keys=[Key(of, to, is_null_safe=True) for of, to in self._names.items()],
        )
