"""A monoid of your own, said in functions from Column to Column."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, is_remote
from pyspark.sql import functions as F

from sash.arguments import FRAMES, require_column
from sash.errors import no_column, shown, type_error, type_name
from sash.loaded import call

if TYPE_CHECKING:
    from pyspark.sql._typing import ColumnOrName

MONOID = (
    "the name of an aggregate, as in 'max', a sash.Monoid, or a function from one Column to a "
    "Column"
)
_IDENTITY = (
    "a Column, or a value for F.lit; for a struct or a map a Column, as in F.struct(F.lit(0))"
)
_BINARY = ("combine", "inverse", "selective")
_FUNCTION = {
    1: "a function from one Column to a Column",
    2: "a function from two Columns to a Column",
}
Unary = Callable[[Column], Column]
Binary = Callable[[Column, Column], Column]


@dataclass(frozen=True, eq=False, repr=False)
class Monoid:
    """An aggregate in three functions: of one row, of two neighbours, and of the answer.

    The functions get Columns and return Columns. They are called once, when the query is built.
    Catalyst compiles their results like any other expression of the query, and no row passes
    through Python. A partial aggregate that is a struct is kept as its fields, and costs as much
    as that many columns. In SQL the same is ``monoid_agg(x, x -> …, (a, b) -> …)``.

    The one law: ``combine`` is associative. It need not be commutative: its first operand
    always holds older rows than the second. ``sash.testing.check_monoid`` looks for data that
    break the laws.

    Rows whose input is NULL are skipped. To aggregate several columns pass a struct of them, as
    in ``spread(F.struct("x", "y"))``, which is not NULL, whatever they are.

    Args:
        lift: From the input to its partial aggregate, of any type. It may also refer to other
            columns of the row.
        combine: From the partials of two neighbouring parts of the rows, the older first, to
            the partial of both, which has the type of ``lift``'s result.
        lower: From a partial to the answer. The default is the partial itself.
        identity: The partial of no rows, a constant: a Column or a value for ``F.lit``. Without
            one the aggregate of no rows is NULL.
        inverse: From the partials of a whole and of its oldest part to the rest's. A moving
            window then takes rows back instead of combining anew. It is taken at its word: of
            floats, ``(a + b) - a`` is not always ``b``, and a window drifts.
        selective: True if ``combine`` always returns one of its operands; or a function that says
            whether it is the younger, for operands that are not compared by ``=``. A moving
            window then needs fewer combines.

    Raises:
        AnalysisException: where the query is analyzed. The types do not close: ``combine``
            returns another type than ``lift``, and the message has both. Or a function other
            than ``lift`` refers to a column.
        PySparkTypeError: an argument is of the wrong type, or a function does not return
            a Column.

    Example:
        >>> from pyspark.sql import Window, functions as F
        >>> spread = sash.Monoid(
        ...     lift=lambda x: F.struct(x.alias("lo"), x.alias("hi")),
        ...     combine=lambda a, b: F.struct(
        ...         F.least(a.lo, b.lo).alias("lo"), F.greatest(a.hi, b.hi).alias("hi")
        ...     ),
        ...     lower=lambda a: a.hi - a.lo,
        ... )
        >>> df = spark.createDataFrame([(1, 5.0), (2, None), (3, 2.0), (4, 3.0)], ["ts", "x"])
        >>> last_two = Window.orderBy("ts").rowsBetween(-1, 0)
        >>> df.select("ts", sash.sliding_agg("x", spread, last_two).alias("spread")).show()
        +---+------+
        | ts|spread|
        +---+------+
        |  1|   0.0|
        |  2|   0.0|
        |  3|   0.0|
        |  4|   1.0|
        +---+------+
        <BLANKLINE>
        >>> df.agg(spread("x").alias("spread")).show()
        +------+
        |spread|
        +------+
        |   3.0|
        +------+
        <BLANKLINE>
    """

    lift: Unary
    combine: Binary
    lower: Unary | None = None
    identity: Any = None
    inverse: Binary | None = None
    selective: bool | Binary = False

    def __post_init__(self) -> None:
        """Check the arguments as far as that needs no session."""
        require_function("lift", self.lift, 1)
        require_function("combine", self.combine, 2)
        if self.lower is not None:
            require_function("lower", self.lower, 1)
        if self.inverse is not None:
            require_function("inverse", self.inverse, 2)
        if not isinstance(self.selective, bool):
            require_function("selective", self.selective, 2, f"a bool or {_FUNCTION[2]}")
        if isinstance(self.identity, (Mapping, Set, tuple)) or (
            not isinstance(self.identity, Column)
            and (callable(self.identity) or type_name(self.identity) in FRAMES)
        ):
            raise type_error("identity", _IDENTITY, self.identity)

    def __repr__(self) -> str:
        """The call that makes it, with functions by name."""
        given = [f for f in fields(self) if getattr(self, f.name) is not f.default]
        named = (f"{f.name}={shown(getattr(self, f.name))}" for f in given)
        return f"Monoid({', '.join(named)})"

    def __call__(self, col: ColumnOrName) -> Column:
        """Return the aggregate of ``col``, for ``groupBy(…).agg`` or ``.over``."""
        selective = self.selective
        return call(
            "monoid_agg",
            to_column(col),
            lambda_column("lift", self.lift),
            lambda_column("combine", self.combine),
            _optional("lower", self.lower),
            identity_column(self.identity),
            _optional("inverse", self.inverse),
            F.lit(selective)
            if isinstance(selective, bool)
            else lambda_column("selective", selective),
        )


def require_function(
    argument: str, function: object, operands: int, expected: str | None = None
) -> None:
    """Refuse an object that cannot be called with so many Columns."""
    expected = expected or _FUNCTION[operands]
    if isinstance(function, Column) or not callable(function):
        raise type_error(argument, expected, function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        return
    try:
        signature.bind(*[None] * operands)
    except TypeError:
        raise type_error(argument, expected, function) from None


def identity_column(identity: object) -> Column:
    """Return the constant that an identity is."""
    if isinstance(identity, Column):
        return identity
    try:
        return F.lit(identity)
    except Exception:  # versions of PySpark refuse different values here
        raise type_error("identity", _IDENTITY, identity) from None


def _optional(argument: str, function: Unary | Binary | None) -> Column:
    return F.lit(None) if function is None else lambda_column(argument, function)


def lambda_column(argument: str, function: Unary | Binary) -> Column:
    """Spark's lambda of a function, which PySpark makes for its own functions only."""

    def checked(*operands: Column) -> Column:
        column = function(*operands)
        if not isinstance(column, Column):
            raise no_column(argument, column)
        return column

    # PySpark counts the parameters
    binary = argument in _BINARY
    of = (lambda a, b: checked(a, b)) if binary else (lambda a: checked(a))
    if is_remote():
        from pyspark.sql.connect.column import Column as ConnectColumn
        from pyspark.sql.connect.functions.builtin import _create_lambda as of_connect

        return ConnectColumn(of_connect(of))
    from pyspark.sql.classic.column import Column as ClassicColumn
    from pyspark.sql.functions.builtin import _create_lambda as of_classic

    return ClassicColumn(of_classic(of))


def to_column(col: ColumnOrName, argument: str = "col") -> Column:
    """Return a Column, or the one of this name."""
    if isinstance(col, str):
        return F.col(col)
    require_column(argument, col)
    return col


def aggregate_of(column: Column, monoid: str | Unary) -> Column:
    """Return the aggregate of a column that a name, a Monoid or a function stands for."""
    if isinstance(monoid, str):
        return call("sliding_agg", column, F.lit(monoid))
    if isinstance(monoid, Column):
        hint = "An aggregate that has its column goes as in F.sum('x').over(window)."
        raise type_error("monoid", MONOID, monoid, hint)
    if not isinstance(monoid, Monoid):
        if hasattr(monoid, "merge") and not callable(monoid):
            hint = "An aggregator in Python goes as sash.udaf(aggregator, 'the answers' type')."
            raise type_error("monoid", MONOID, monoid, hint)
        require_function("monoid", monoid, 1, MONOID)
    aggregate = monoid(column)
    if not isinstance(aggregate, Column):
        raise type_error("monoid", "a function that returns a Column", aggregate)
    return aggregate
