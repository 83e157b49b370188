"""Which Spark the tests run on, and tests of features that earlier ones lack."""

from __future__ import annotations

import pyspark
import pytest

SPARK = tuple(int(part) for part in pyspark.__version__.split(".")[:2])


def since(major: int, minor: int, reason: str) -> pytest.MarkDecorator:
    """Skip a test on each Spark before this one."""
    return pytest.mark.skipif((major, minor) > SPARK, reason=reason)
