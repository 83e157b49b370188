"""Aggregators written in Python that slide."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.sql import Column
from pyspark.sql.types import DataType

from sash.errors import shown, type_error, value_error

if TYPE_CHECKING:
    from pyspark.sql._typing import ColumnOrName

_METHODS = "an object with the methods zero, reduce, merge and finish, or lift and merge"


class Aggregator:
    """An aggregator in Python: a base class that only names the methods.

    The names and their meaning are those of ``pyspark.sql.aggregator.Aggregator``. A class need
    not extend this one. One with ``lift`` and ``merge`` alone does as well.
    """

    def zero(self) -> Any:
        """Return a new buffer, of no rows."""
        raise NotImplementedError

    def reduce(self, buffer: Any, *values: Any) -> Any:
        """Add a row to a buffer, which it may change, and return it. A NULL is None."""
        raise NotImplementedError

    def merge(self, left: Any, right: Any) -> Any:
        """Return the buffer of two, the older first. It must not change either of them."""
        raise NotImplementedError

    def finish(self, buffer: Any) -> Any:
        """Return the answer of a buffer, which it must not change."""
        raise NotImplementedError


def udaf(aggregator: Any, returnType: DataType | str) -> Callable[..., Column]:
    """An aggregator in Python as a function from columns to a column, for ``over`` and ``agg``."""
    from sash import sliding

    lacking = [
        m
        for m in (["merge"] if hasattr(aggregator, "lift") else ["zero", "reduce", "merge", "finish"])
        if not callable(getattr(aggregator, m, None))
    ]
    if lacking or isinstance(aggregator, type):
        raise type_error("aggregator", _METHODS, aggregator)
    from pyspark.sql.pandas.functions import ArrowUDFType, arrow_udf
    from pyspark.sql.pandas.types import to_arrow_type

    parsed = DataType.fromDDL(returnType) if isinstance(returnType, str) else returnType
    cloudpickle.register_pickle_by_value(sliding)
    name = f"sash.udaf({type(aggregator).__name__})"
    function = sliding.Function(aggregator, name, to_arrow_type(parsed, timezone="UTC"))
    return arrow_udf(function, parsed, ArrowUDFType.GROUPED_AGG)
