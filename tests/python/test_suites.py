"""The page of tests lists each suite, which has a doc and lies in a room of the sources."""

from __future__ import annotations

import re

import pytest

import suites
from conftest import REPOSITORY

ROOMS = (REPOSITORY / "tests/scala/core/resources/rooms.txt").read_text(encoding="utf-8")
ALL = [*suites.scala(), *suites.python()]


def test_the_page_is_current():
    shown = suites.PAGE.read_text(encoding="utf-8")
    assert shown == suites.page(suites.known()), "run `make suites`"
    assert len(suites.known()) == len(ALL) > 180


def test_each_suite_says_what_it_tests():
    assert [s.name for s in ALL if len(s.sentence.split()) < 3] == []


def test_each_room_of_suites_is_one_of_the_sources():
    rooms = {
        f"{project}/{path}".removesuffix("/.")
        for project, path in re.findall(
            r"^(core|spark|papers) ([\w/.]+)[ :]", ROOMS, re.MULTILINE
        )
    }
    assert len(rooms) > 30
    assert {s.room for s in ALL} - rooms == {"core/house", "papers", "python"}


@pytest.mark.parametrize(
    ("doc", "found"),
    [
        (
            "\n * One of [[Spark]]'s,\n * in two lines. Another.\n ",
            "One of `Spark`'s, in two lines.",
        ),
        (
            " A kind of x | y: its rows, in Spark 4.2. More. ",
            "A kind of x \\| y: its rows, in Spark 4.2.",
        ),
        ("", ""),
    ],
)
def test_the_first_sentence_of_a_doc(doc, found):
    assert suites.sentence(doc) == found


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("StreamWindowsSuite", "quick, thorough"),
        ("StreamTwinsSuite", "long, thorough"),
        ("LateRowsSuite", "quick, long"),
        ("OnHeapThreadsSuite", "quick, thorough"),
        ("test_suites", "quick"),
        ("test_lateral_queries", "long, thorough"),
    ],
)
def test_when_a_suite_runs(name, runs):
    assert [s.runs for s in ALL if s.name == name] == [runs]
