"""The project's texts are plain English, by the counts of prose.py, which are tested as well."""

from __future__ import annotations

import pytest

import prose

HEADLESS_IN_A_THOUSAND_WORDS = 3
LONG_IN_A_THOUSAND_SENTENCES = 20


@pytest.mark.parametrize("name", prose.GROUPS)
def test_texts_are_plain(name):
    files = prose.GROUPS[name].files()
    assert files
    counts = prose.count(map(prose.read, files))
    assert counts.words > 1_000
    if name == "generated pages":
        # a program writes a paragraph in one line
        counts = counts._replace(long_lines=0)
    assert _is_plain(counts), "\n".join([str(counts), *prose.faults(files)[:40]])


def _is_plain(counts):
    return (
        counts.headless_rate <= HEADLESS_IN_A_THOUSAND_WORDS
        and counts.long_rate <= LONG_IN_A_THOUSAND_SENTENCES
        and counts.long_lines == 0
    )


@pytest.mark.parametrize(
    ("sentence", "relatives"),
    [
        ("It keeps what was there, of which none is late.", 2),
        ("What waits is kept.", 1),
        ("The type is that of the column, as are those that come later.", 2),
        ("What is a window?", 0),
        ("Whatever comes is kept, and somewhat later it goes.", 0),
        ("The rows of that key are those rows that are late.", 0),
    ],
)
def test_a_headless_relative_has_no_noun(sentence, relatives):
    assert prose.headless(sentence) == relatives


def test_a_long_sentence_has_more_than_thirty_words():
    assert not prose.is_long("word " * 29 + "end.")
    assert not prose.is_long("word " * 30)
    assert prose.is_long("word " * 31)


@pytest.mark.parametrize(
    ("paragraph", "found"),
    [
        ("One row. Two rows!  Three\nrows? Yes.", 4),
        ("Spark 4.2 runs it, e.g. Spark 4.2.0 does.", 1),
        ("It ends (see there). 3 rows are left.", 2),
        ("No row is here: none.", 1),
        ("  \n ", 0),
    ],
)
def test_sentences_end_where_another_begins(paragraph, found):
    assert len(prose.sentences(paragraph)) == found


def test_the_prose_of_a_page_is_without_code_and_targets():
    text = prose.markdown(
        "# What it is\n\nA [link](what.md) and `what it does`.\nThe end.\n\n"
        "```python\nwhat = 'what'\n```\n\n    what\n\n- An item\n- Another\n\n"
        "| a cell | that of |\n|---|---|\n| one | two |\n\n[ref]: what.md\n"
    )
    assert text.sentences == [
        "A [link] and Code.",
        "The end.",
        "An item",
        "Another",
        "a cell",
        "that of",
        "one",
        "two",
    ]
    assert prose.count([text]).headless == 1


@pytest.mark.parametrize(
    ("line", "is_long"),
    [
        ("w" * 98, False),
        ("w" * 99, True),
        (f"| {'w' * 99} |", False),
        (f"# {'w' * 99}", False),
        (f"[w]({'w' * 99})", False),
        (f"[{'w' * 99}](w)", True),
        (f"```\n{'w' * 99}\n```", False),
    ],
)
def test_a_long_line_is_of_prose(line, is_long):
    assert len(prose.markdown(f"{line}\n").long_lines) == is_long


def test_the_prose_of_a_module_is_docstrings_and_comments():
    text = prose.python(
        '"""First. Second.\n\n==== ====\nkind word\n==== ====\none   two\n==== ====\n"""\n\n'
        "# A comment\n# of two lines.\n\n\n"
        "def what():  # noqa: what\n"
        '    """Return it.\n\n    Args:\n        a: An argument.\n        b: Another.\n\n'
        '    Example:\n        >>> what()\n        what\n    """\n'
        '    return "what"\n'
    )
    assert text.sentences == [
        "First.",
        "Second.",
        "kind word",
        "one",
        "two",
        "Return it.",
        "a: An argument.",
        "b: Another.",
        "A comment of two lines.",
    ]


def test_the_prose_of_a_scala_source_is_comments_and_long_strings():
    text = prose.scala(
        "/**\n * A class, of `what`.\n *\n * @param a a number\n */\n"
        "class What(a: Int) { // of one line\n  val x = a\n  // and of\n  // two\n"
        "  val short = \"what is\" // 'short'\n"
        '  def why = s"the bound ${what} is never " +\n    s"reached on a stream"\n'
        "  {{{ }}}\n}\n"
    )
    assert text.sentences == [
        "A class, of Code.",
        "a number",
        "of one line",
        "and of two",
        "'short'",
        "the bound Code is never reached on a stream",
    ]


def test_counts_add_up():
    texts = [prose.Text(["What waits."], ["x"]), prose.Text(["One.", "word " * 31], [])]
    counts = prose.count(texts)
    assert counts == prose.Counts(34, 3, headless=1, long_sentences=1, long_lines=1)
    assert round(counts.headless_rate) == 29
    assert round(counts.long_rate) == 333
    assert not _is_plain(counts)
    assert _is_plain(prose.Counts(1_000, 100, headless=3, long_sentences=2, long_lines=0))
