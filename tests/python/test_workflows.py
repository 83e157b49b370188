"""The workflows of the code host: actions by commit, targets that the Makefile has, limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import REPOSITORY

GITHUB = REPOSITORY / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ACTIONS = sorted((GITHUB / "actions").glob("*/action.yml"))


def _name(path: Path) -> str:
    return path.parent.name if path.name == "action.yml" else path.stem


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=_name)
def test_an_action_is_named_by_its_commit(path):
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        if action.startswith("./"):
            assert (REPOSITORY / action / "action.yml").exists(), action
        else:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_an_action_has_one_commit_everywhere():
    texts = [path.read_text(encoding="utf-8") for path in [*WORKFLOWS, *ACTIONS]]
    used = {match for text in texts for match in re.findall(r"uses: ([\w/-]+)@(\w+)", text)}
    assert len(used) == len({action for action, _ in used})


@pytest.mark.parametrize("path", WORKFLOWS, ids=_name)
def test_a_job_ends_in_time_and_has_few_rights(path):
    text = path.read_text(encoding="utf-8")
    assert "\npermissions:\n  contents: read\n" in text
    jobs = re.findall(r"^  ([\w-]+):\n((?:    .*\n|\n)+)", text.partition("\njobs:\n")[2], re.M)
    assert jobs
    assert [name for name, job in jobs if "timeout-minutes:" not in job] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=_name)
def test_the_makefile_has_what_a_workflow_runs(path):
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.M))
    run = re.findall(r"run: make ([\w-]+)", path.read_text(encoding="utf-8"))
    assert [target for target in run if target not in targets | {"test-pyspark-"}] == []


def test_all_tests_run_each_night():
    text = (GITHUB / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    assert re.search(r'cron: "\d+ \d+ \* \* \*"', text)
    assert "run: make test-all" in text


def test_each_python_of_the_wheel_runs():
    ci = (GITHUB / "workflows" / "ci.yml").read_text(encoding="utf-8")
    setup = ACTIONS[0].read_text(encoding="utf-8")
    project = (REPOSITORY / "python" / "pyproject.toml").read_text(encoding="utf-8")
    claimed = re.findall(r"Python :: (3\.\d+)", project)
    matrix = re.findall(r'"(3\.\d+)"', ci) + re.findall(r'default: "(3\.\d+)"', setup)
    assert sorted(claimed) == sorted(matrix)


def test_each_java_of_the_page_of_installation_runs():
    ci = (GITHUB / "workflows" / "ci.yml").read_text(encoding="utf-8")
    page = (REPOSITORY / "docs" / "installation.md").read_text(encoding="utf-8")
    [claimed] = re.findall(r"Java (17(?:, \d+)* and \d+)", page)
    matrix = re.findall(r'"(\d\d)"', ci)
    [default] = re.findall(r'default: "(\d+)"', ACTIONS[0].read_text(encoding="utf-8"))
    assert re.findall(r"\d+", claimed) == [default, *matrix]


def test_neighbours_run_each_week_and_the_newest_spark_each_night():
    text = (GITHUB / "workflows" / "neighbours.yml").read_text(encoding="utf-8")
    assert re.search(r'cron: "\d+ \d+ \* \* \d"', text)
    assert "run: make test-neighbours" in text
    nightly = (GITHUB / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    assert "run: make test-newest" in nightly


def test_only_a_tag_publishes():
    text = (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = re.split(r"^  (?=[\w-]+:$)", text.partition("\njobs:\n")[2], flags=re.M)
    publishing = [job for job in jobs if "    environment: " in job]
    assert [job.partition(":")[0] for job in publishing] == ["pypi", "maven-central", "site"]
    for job in publishing:
        assert "    needs: build\n    if: github.ref_type == 'tag'\n" in job
    [build] = [job for job in jobs if job.startswith("build:")]
    assert "run: make release-check" in build
    assert "secrets." not in build
