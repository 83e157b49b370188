"""Errors of this package, under PySpark's own conditions."""

from __future__ import annotations

from pyspark.errors import PySparkTypeError


def type_error(argument: str, expected: str, actual: object) -> PySparkTypeError:
    """Return the error that an argument is of the wrong type."""
    found = type(actual).__name__
    return PySparkTypeError(
        # spelled out, since PySpark 4.0 does not know this condition of later versions
        message=f"Argument `{argument}` should be {expected}, got {found}.",
        errorClass="NOT_EXPECTED_TYPE",
        messageParameters={
            "arg_name": argument,
            "expected_type": expected,
            "arg_type": found,
        },
    )
