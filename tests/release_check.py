"""Looks at what a release would publish, as those see it who get it.

    make release-check

Builds the wheel and the jars, and checks licences, metadata, the POM, and the jars of sources and
documentation. Then it installs the wheel into a new environment and runs the README's first lines
there. It publishes nothing.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Callable, Iterator
from email.parser import Parser
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
POM = "{http://maven.apache.org/POM/4.0.0}"


def main(dist: Path, repository: Path, pyspark: str) -> None:
    """Check all, and name each check that passed or failed; fail if one has failed."""
    failed = 0
    for title, check in _checks(dist, repository, pyspark):
        try:
            said = check()
        except (AssertionError, subprocess.CalledProcessError) as error:
            failed += 1
            print(f"FAILED  {title}: {error}")
        else:
            print(f"ok      {title}: {said}")
    if failed:
        sys.exit(f"{failed} checks failed")


def _checks(
    dist: Path, repository: Path, pyspark: str
) -> Iterator[tuple[str, Callable[[], str]]]:
    (wheel,) = dist.glob("*.whl")
    (folder,) = repository.glob("io/sash/sash-core_*/*/")
    (pom,) = folder.glob("*.pom")
    core = folder / f"{pom.stem}.jar"
    yield "the wheel's licence", lambda: _wheel_licence(wheel)
    yield "the wheel's metadata", lambda: _metadata(wheel)
    yield "the plugin's licence", lambda: _plugin_licence(wheel)
    yield "the library's licence", lambda: _jar_licence(core)
    yield "the library's POM", lambda: _pom(pom)
    for kind in ("sources", "javadoc"):
        yield f"the library's {kind}", lambda k=kind: _more(folder / f"{pom.stem}-{k}.jar")
    yield "the changelog", lambda: _changelog(wheel)
    yield "the bill of materials", lambda: _sbom(wheel, dist)
    yield "a new environment", lambda: _installed(wheel, pyspark)


def _wheel_licence(wheel: Path) -> str:
    names = zipfile.ZipFile(wheel).namelist()
    for file in ("LICENSE", "NOTICE"):
        assert any(n.endswith(f".dist-info/licenses/{file}") for n in names), f"no {file}"
    return wheel.name


def _metadata(wheel: Path) -> str:
    archive = zipfile.ZipFile(wheel)
    (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
    fields = Parser().parsestr(archive.read(name).decode())
    for field in (
        "Name",
        "Version",
        "Summary",
        "License-Expression",
        "Requires-Python",
        "Author",
    ):
        assert fields.get(field), f"no {field}"
    extras = set(fields.get_all("Provides-Extra", []))
    assert {"spark", "connect"} <= extras, f"extras: {extras}"
    assert len(fields.get_all("Classifier", [])) > 5, "classifiers are missing"
    assert fields.get_payload(), "no description"
    return f"{fields['Name']} {fields['Version']}, Python {fields['Requires-Python']}"


def _plugin_licence(wheel: Path) -> str:
    archive = zipfile.ZipFile(wheel)
    (jar,) = [n for n in archive.namelist() if n.endswith(".jar")]
    with archive.open(jar) as file:
        return _licences(zipfile.ZipFile(file), jar)


def _jar_licence(jar: Path) -> str:
    return _licences(zipfile.ZipFile(jar), jar.name)


def _licences(jar: zipfile.ZipFile, name: str) -> str:
    for file in ("LICENSE", "NOTICE"):
        held = jar.read(f"META-INF/{file}") if f"META-INF/{file}" in jar.namelist() else b""
        assert held == (ROOT / file).read_bytes(), f"{name} has not this {file}"
    return name


def _pom(pom: Path) -> str:
    project = ElementTree.parse(pom).getroot()  # noqa: S314 (sbt has just written it)
    for path in ("name", "url", "licenses/license/name", "scm/url", "developers/developer/name"):
        found = project.findtext("/".join(POM + step for step in path.split("/")))
        assert found, f"no {path}"
    return pom.name


def _more(jar: Path) -> str:
    assert jar.exists(), f"no {jar.name}"
    names = zipfile.ZipFile(jar).namelist()
    assert any(n.endswith((".scala", ".html")) for n in names), f"{jar.name} is empty"
    return f"{len(names)} files"


def _changelog(wheel: Path) -> str:
    version = wheel.name.split("-")[1]
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {version}" in text, f"CHANGELOG.md has no section {version}"
    return f"section {version}"


def _sbom(wheel: Path, dist: Path) -> str:
    """CycloneDX's list of the wheel's contents: Sash alone, since Spark is the user's."""
    out = dist / f"{wheel.stem}.cdx.json"
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=False)
        python = f"{folder}/bin/python"
        install = ["-m", "pip", "--python", python, "install", "--quiet", "--no-deps", str(wheel)]
        subprocess.run([sys.executable, *install], check=True)
        list_ = ["-m", "cyclonedx_py", "environment", python, "--output-file", str(out)]
        subprocess.run([sys.executable, *list_], check=True, capture_output=True)
    components = json.loads(out.read_text(encoding="utf-8")).get("components", [])
    names = [component["name"] for component in components]
    assert names == ["sash-spark"], f"components: {names}"
    return out.name


def _installed(wheel: Path, pyspark: str) -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:python|sql)\n(.*?)```", readme, re.DOTALL)
    setup, query = blocks[:2]
    program = f"{setup}\n{query}\n" + (
        "text = sash.explanation(delays)\n"
        "assert 'slides: avg(flights.delay)' in text, text\n"
        "assert [r.mean_delay for r in delays.collect()] == [2.0, 3.0]\n"
        "spark.stop()\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = f"{folder}/bin/python"
        install = [python, "-m", "pip", "install", "--quiet", str(wheel), f"pyspark=={pyspark}"]
        subprocess.run(install, check=True)
        subprocess.run([python, "-c", program], check=True, cwd=folder)
    return f"the README's first lines ran on PySpark {pyspark}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
