"""The documentation is current, and its examples are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess

import pytest
from pyspark.sql import functions as F

import python_page
import sash
from conftest import REPOSITORY
from sash.install import jars_directory

MODULES = sorted(module.name for module in pkgutil.iter_modules(sash.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings(spark, name):
    if name in ("sliding", "udaf") and not hasattr(F, "arrow_udf"):
        pytest.skip("PySpark 4.0 passes no Arrow arrays to a UDF")
    module = importlib.import_module(f"sash.{name}")
    flags = doctest.REPORT_NDIFF
    result = doctest.testmod(module, extraglobs={"spark": spark, "sash": sash}, optionflags=flags)
    assert result.failed == 0


@pytest.mark.parametrize(
    "name",
    [
        "sliding_agg",
        "window_join",
        "as_of",
        "grid",
        "Monoid",
        "Aggregator",
        "udaf",
        "configure",
        "is_active",
        "inactive_reason",
        "explain",
        "explanation",
        "jar_path",
    ],
)
def test_every_public_function_has_an_example(name):
    assert ">>> " in getattr(sash, name).__doc__


def test_names_that_are_shown_are_public_ones():
    assert dir(sash) == sash.__all__
    functions = vars(sash.functions)
    own = {
        name
        for name, of in functions.items()
        if getattr(of, "__module__", "") == "sash.functions"
    }
    assert set(sash.functions.__all__) == {name for name in own if not name.startswith("_")}
    assert dir(sash.functions) == sash.functions.__all__
    assert all(getattr(sash, name) is not None for name in sash.__all__)


def test_every_sql_function_is_one_of_python(spark):
    page = (REPOSITORY / "docs" / "functions.md").read_text(encoding="utf-8")
    # window kinds are methods of SlidingWindow
    names = re.findall("^### (.*)", page.partition("\n## Window kinds")[0], re.MULTILINE)
    assert len(names) > 10
    # a monoid of one's own is a class, not a function, and PySpark has product
    for name in set(names) - {"monoid_agg", "product"}:
        assert ">>> " in getattr(sash.functions, name).__doc__


def test_the_page_of_python_has_each_name_and_its_first_line():
    shown = python_page.page()
    assert python_page.PAGE.read_text(encoding="utf-8") == shown, "run `make docs`"
    public = {f"sash.{name}" for name in sash.__all__} - {"sash.functions", "sash.testing"}
    public |= {
        f"sash.functions.{name}" for name in sash.functions.__all__ if name != "sliding_agg"
    }
    assert {name for name in public if f"- `{name}`: " not in shown} == {"sash.__version__"}


@pytest.mark.parametrize(
    ("name", "maker"),
    [("configuration", "ConfigurationDoc"), ("functions", "names.FunctionsDoc")],
)
def test_a_page_is_generated_from_this_jar(name, maker):
    class_path = f"{sash.jar_path()}:{jars_directory()}/*"
    command = ["java", "-cp", class_path, f"io.sash.spark.{maker}"]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = REPOSITORY / "docs" / f"{name}.md"
    assert page.read_text(encoding="utf-8") == made, "run `make docs`"
