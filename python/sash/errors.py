"""Errors of this package, under PySpark's own conditions."""

from __future__ import annotations

import re

from pyspark.errors import PySparkTypeError, PySparkValueError

# of a function's repr: where it lies, and the function around it
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|(?<=<function )\S*\.<locals>\.")


def type_error(
    argument: str, expected: str, actual: object, hint: str | None = None
) -> PySparkTypeError:
    """Return the error that an argument is of the wrong type."""
    found = type_name(actual)
    return PySparkTypeError(
        # spelled out, since PySpark 4.0 does not know this condition of later versions
        message=_text(argument, expected, found, hint),
        errorClass="NOT_EXPECTED_TYPE",
        messageParameters={
            "arg_name": argument,
            "expected_type": expected,
            "arg_type": found,
        },
    )


def value_error(
    argument: str, expected: str, actual: object, hint: str | None = None
) -> PySparkValueError:
    """Return the error that an argument is of the right type and cannot be taken."""
    return PySparkValueError(
        message=_text(argument, expected, shown(actual), hint),
        errorClass="VALUE_NOT_ALLOWED",
        messageParameters={
            "arg_name": argument,
            "allowed_values": expected,
        },
    )


def no_column(argument: str, actual: object) -> PySparkValueError:
    """Return the error that a function of an argument returns something that is no Column."""
    found = type_name(actual)
    return PySparkValueError(
        message=_text(argument, "a function that returns a Column", found, None),
        errorClass="HIGHER_ORDER_FUNCTION_SHOULD_RETURN_COLUMN",
        messageParameters={"func_name": argument, "return_type": found},
    )


def shown(value: object) -> str:
    """A value in one line, without the addresses of the functions in it."""
    text = _ADDRESS.sub("", repr(value))
    return type_name(value) if "\n" in text else text


def type_name(value: object) -> str:
    """The type of a value, with its package if other packages have a type of that name."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    module, name = type(value).__module__, type(value).__name__
    if module.startswith("pyspark.pandas"):
        return f"pyspark.pandas.{name}"
    package = module.partition(".")[0]
    return name if package in ("builtins", "pyspark") else f"{package}.{name}"


def _text(argument: str, expected: str, found: str, hint: str | None) -> str:
    text = f"Argument `{argument}` should be {expected}, got {found}."
    return text if hint is None else f"{text} {hint}"
