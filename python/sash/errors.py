"""Errors of this package, under PySpark's own conditions."""

from __future__ import annotations

from pyspark.errors import PySparkTypeError, PySparkValueError


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


def value_error(argument: str, expected: str, actual: object) -> PySparkValueError:
    """Return the error that an argument is of the right type and cannot be taken."""
    return PySparkValueError(
        message=f"Argument `{argument}` should be {expected}, got {actual!r}.",
        errorClass="VALUE_NOT_ALLOWED",
        messageParameters={
            "arg_name": argument,
            "allowed_values": expected,
        },
    )


def no_column(argument: str, actual: object) -> PySparkValueError:
    """Return the error that a function of an argument returns something that is no Column."""
    found = type(actual).__name__
    return PySparkValueError(
        message=f"Argument `{argument}` should be a function that returns a Column, got {found}.",
        errorClass="HIGHER_ORDER_FUNCTION_SHOULD_RETURN_COLUMN",
        messageParameters={"func_name": argument, "return_type": found},
    )
