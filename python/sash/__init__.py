"""Sash: Spark SQL's sliding windows in constant time per row.

With the plugin's jar on Spark's class path, ``agg(x) OVER (… ROWS|RANGE BETWEEN …)`` costs the
same at a window of ten rows and of a million. No query changes:

    import sash
    from pyspark.sql import SparkSession

    spark = sash.configure(SparkSession.builder).getOrCreate()

Only the rows of `sash.udaf` pass through Python: this package carries the jar, brings it to
Spark, and has the plugin's additions to SQL as functions for PySpark.
"""

from sash._version import __version__
from sash.jar import jar_path

try:
    from sash import functions, testing
    from sash.asof import as_of
    from sash.functions import sliding_agg
    from sash.grid import grid
    from sash.history import warm_start
    from sash.labels import window_join
    from sash.monoid import Monoid
    from sash.plan import explain, explanation
    from sash.refreshing import changed, refresh, refreshed
    from sash.session import configure, inactive_reason, is_active
    from sash.udaf import Aggregator, udaf
    from sash.window import SlidingWindow
except ImportError as _missing:
    # `python -m sash jar` and `scan` need no PySpark, nor one that Sash can run on
    if (_missing.name or "").partition(".")[0] != "pyspark":
        raise
    _fault = _missing

    def __getattr__(name: str) -> object:
        if name in __all__:
            needs = "Sash needs PySpark 4.0 or later: pip install 'pyspark>=4.0'"
            raise ModuleNotFoundError(needs, name="pyspark") from _fault
        raise AttributeError(f"module 'sash' has no attribute {name!r}")


__all__ = [
    "Aggregator",
    "Monoid",
    "SlidingWindow",
    "__version__",
    "as_of",
    "changed",
    "configure",
    "explain",
    "explanation",
    "functions",
    "grid",
    "inactive_reason",
    "is_active",
    "jar_path",
    "refresh",
    "refreshed",
    "sliding_agg",
    "testing",
    "udaf",
    "warm_start",
    "window_join",
]


def __dir__() -> list[str]:
    """The public names; modules beside them are none."""
    return __all__
