"""Looks at what a release would publish, as those see it who get it.

    make release-check

Builds the wheel and the jars, and checks licences, metadata, the POMs, and the jars of sources
and documentation. It builds them again in another folder, and compares the bytes. Then it runs a
query with the jar that ``spark-submit --packages`` gets from a repository on this disk, and the
README's first lines with the wheel in a new environment. It publishes nothing.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
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
    (core,) = repository.glob("io/sash/sash-core_*/*/*.pom")
    (papers,) = repository.glob("io/sash/sash-papers_*/*/*.pom")
    (plugin,) = repository.glob("io/sash/sash-spark_*/*/*.pom")
    yield "the wheel's licence", lambda: _wheel_licence(wheel)
    yield "the wheel's metadata", lambda: _metadata(wheel)
    yield "the wheel's jar", lambda: _same_jar(wheel, plugin.with_suffix(".jar"))
    for name, pom in (("kernel", core), ("library", papers), ("plugin", plugin)):
        yield f"the {name}'s licence", lambda p=pom: _licences(p.with_suffix(".jar"))
        yield f"the {name}'s POM", lambda p=pom: _pom(p)
        yield f"the {name}'s sources", lambda p=pom: _more(p, "sources", ".scala")
        yield f"the {name}'s javadoc", lambda p=pom: _more(p, "javadoc", ".html")
        yield f"the {name}'s checksums", lambda p=pom: _checksums(p)
    yield "the plugin's dependencies", lambda: _alone(plugin)
    yield "no builder's folder", lambda: _no_folder(wheel, repository)
    yield "another folder", lambda: _same_bytes(wheel, core, papers, plugin)
    yield "the tag", lambda: _tag(wheel)
    yield "the changelog", lambda: _changelog(wheel)
    yield "the bill of materials", lambda: _sbom(wheel, dist)
    yield "--packages", lambda: _packages(plugin, repository)
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
    urls = dict(line.split(", ", 1) for line in fields.get_all("Project-URL", []))
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= set(urls), f"urls: {urls}"
    for url in urls.values():
        _is_address(url)
    return f"{fields['Name']} {fields['Version']}, Python {fields['Requires-Python']}"


def _is_address(url: str) -> None:
    assert url.startswith("https://"), f"{url} is no https address"
    at_release = os.environ.get("GITHUB_REF_TYPE") == "tag"
    assert not (at_release and ".invalid" in url), f"a release needs a page, not {url}"


def _same_jar(wheel: Path, published: Path) -> str:
    assert _jar(wheel) == published.read_bytes(), f"the wheel's jar is not {published.name}"
    return published.name


def _jar(wheel: Path) -> bytes:
    archive = zipfile.ZipFile(wheel)
    (jar,) = [n for n in archive.namelist() if n.endswith(".jar")]
    return archive.read(jar)


def _licences(path: Path) -> str:
    jar = zipfile.ZipFile(path)
    for file in ("LICENSE", "NOTICE"):
        held = jar.read(f"META-INF/{file}") if f"META-INF/{file}" in jar.namelist() else b""
        assert held == (ROOT / file).read_bytes(), f"{path.name} has not this {file}"
    return path.name


def _pom(pom: Path) -> str:
    project = ElementTree.parse(pom).getroot()  # noqa: S314 (sbt has just written it)
    for path in ("name", "url", "licenses/license/name", "scm/url", "developers/developer/name"):
        found = project.findtext("/".join(POM + step for step in path.split("/")))
        assert found, f"no {path}"
        if path.endswith("url"):
            _is_address(found)
    return f"{pom.name}, {project.findtext(f'{POM}url')}"


def _more(pom: Path, kind: str, suffix: str) -> str:
    jar = pom.with_name(f"{pom.stem}-{kind}.jar")
    assert jar.exists(), f"no {jar.name}"
    names = zipfile.ZipFile(jar).namelist()
    assert any(n.endswith(suffix) for n in names), f"{jar.name} is empty"
    return f"{len(names)} files"


def _checksums(pom: Path) -> str:
    """A repository wants them beside each file."""
    files = [f for f in pom.parent.iterdir() if f.suffix in (".jar", ".pom")]
    for file in files:
        for name in ("md5", "sha1"):
            held = file.with_name(f"{file.name}.{name}").read_text(encoding="utf-8")
            assert held == hashlib.new(name, file.read_bytes()).hexdigest(), f"{file.name}.{name}"
    assert len(files) == 4, f"{pom.stem}: {files}"
    return f"of {len(files)} files"


def _alone(pom: Path) -> str:
    """The plugin's jar has the kernel alone in it; Spark and Scala are the cluster's."""
    project = ElementTree.parse(pom).getroot()  # noqa: S314
    assert project.find(f"{POM}dependencies") is None, f"{pom.name} has dependencies"
    names = _names(pom.with_suffix(".jar"))
    assert "io/sash/core/algebra/Aggregation.class" in names, "no core"
    assert not any(n.startswith("io/sash/papers/") for n in names), "with the papers"
    return "none"


def _names(jar: Path) -> list[str]:
    return zipfile.ZipFile(jar).namelist()


def _no_folder(wheel: Path, repository: Path) -> str:
    """No file tells where it was built."""
    own = str(ROOT).encode()
    looked = 0
    for file in (wheel, *repository.rglob("*.pom"), *repository.rglob("*.jar")):
        for name, content in _contents(file):
            looked += 1
            assert own not in content, f"{file.name}, {name}: {ROOT}"
            if name.endswith(("MANIFEST.MF", ".pom", "METADATA")):
                assert b"file:/" not in content, f"{file.name}, {name}: file:/"
    return f"in {looked:,} files"


def _contents(file: Path) -> Iterator[tuple[str, bytes]]:
    """The files in an archive and in the archives in it, or the file itself."""
    if not zipfile.is_zipfile(file):
        yield file.name, file.read_bytes()
        return
    archive = zipfile.ZipFile(file)
    for name in archive.namelist():
        content = archive.read(name)
        yield name, content
        if name.endswith(".jar"):
            inner = zipfile.ZipFile(io.BytesIO(content))
            yield from ((n, inner.read(n)) for n in inner.namelist())


def _same_bytes(wheel: Path, core: Path, papers: Path, plugin: Path) -> str:
    """The same sources in another folder give the same wheel and the same jars."""
    with tempfile.TemporaryDirectory() as temporary:
        other = Path(temporary) / "another" / "folder"
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            (other / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, other / name, follow_symlinks=False)
        libraries = (("core", core), ("papers", papers))
        tasks = ["spark/assembly", "spark/packageSrc"]
        tasks += [
            f"{name}/{task}" for name, _ in libraries for task in ("packageBin", "packageSrc")
        ]
        build = (
            f"import sys; sys.path.insert(0, 'python'); import hatch_build as b; b.sbt(*{tasks})"
        )
        subprocess.run([sys.executable, "-c", build], cwd=other, check=True, capture_output=True)
        wheels = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        options = ["--no-build-isolation", "--wheel-dir", str(other / "dist"), "./python"]
        subprocess.run([*wheels, *options], cwd=other, check=True)
        pairs = [(wheel, other / "dist" / wheel.name)]
        pairs += [(plugin.with_suffix(".jar"), other / "target" / f"{plugin.stem}.jar")]
        target = other / "target"
        for name, pom in (*libraries, ("spark", plugin)):
            sources = f"{pom.stem}-sources.jar"
            pairs += [(pom.with_name(sources), target / name / "scala-2.13" / sources)]
        for name, pom in libraries:
            made = target / name / "scala-2.13" / f"{pom.stem}.jar"
            pairs += [(pom.with_suffix(".jar"), made)]
        for ours, theirs in pairs:
            assert ours.read_bytes() == theirs.read_bytes(), (
                f"{ours.name} differs: {_differing(ours, theirs)}"
            )
    return f"the same bytes: {', '.join(ours.name for ours, _ in pairs)}"


def _differing(ours: Path, theirs: Path) -> list[str]:
    a, b = dict(_contents(ours)), dict(_contents(theirs))
    return [name for name in sorted({*a, *b}) if a.get(name) != b.get(name)][:5]


def _tag(wheel: Path) -> str:
    version = wheel.name.split("-")[1]
    if os.environ.get("GITHUB_REF_TYPE") != "tag":
        return f"none yet; v{version} publishes"
    tag = os.environ["GITHUB_REF_NAME"]
    assert tag == f"v{version}", f"the tag {tag} is not v{version}"
    return tag


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


def _packages(plugin: Path, repository: Path) -> str:
    """A query with the jar that Spark fetches by its coordinates, from here and nowhere else."""
    version = plugin.parent.name
    coordinates = f"io.sash:{plugin.parents[1].name}:{version}"
    with tempfile.TemporaryDirectory() as folder:
        only = Path(folder) / "ivysettings.xml"
        only.write_text(IVY.format(cache=folder, root=repository.resolve().as_uri()))
        program = Path(folder) / "program.py"
        program.write_text(PROGRAM)
        submit = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[1]"]
        options = ["--packages", coordinates, "--conf", f"spark.jars.ivySettings={only}"]
        python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
        done = subprocess.run(
            [*submit, *options, str(program)],
            cwd=folder,
            env={**os.environ, **python},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "SlidingWindow [sum" in done.stdout, done.stdout[-2000:]
    return f"{coordinates} slides"


IVY = """<ivysettings>
  <settings defaultResolver="here"/>
  <caches defaultCacheDir="{cache}/cache"/>
  <resolvers><ibiblio name="here" m2compatible="true" root="{root}"/></resolvers>
</ivysettings>
"""

# without the Python package: the jar alone makes Spark's session one with Sash
PROGRAM = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
query = "SELECT sum(id) OVER (ORDER BY id ROWS 9 PRECEDING) FROM range(100)"
assert spark.sql(query).count() == 100
spark.sql(query).explain()
"""


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
