"""The picture of the rooms is drawn from the list that the sources are compared with."""

from __future__ import annotations

import runpy

from conftest import REPOSITORY


def test_the_picture_is_current():
    images = REPOSITORY / "docs" / "images"
    drawn = runpy.run_path(str(images / "rooms.py"))["picture"]()
    assert (images / "rooms.svg").read_text(encoding="utf-8") == drawn, "run `make docs`"
