"""The JSON files of results, which a later run goes on from."""

import json
from pathlib import Path
from typing import Any


def save(path: Path, content: dict[str, Any]) -> None:
    """Write JSON in one step, so that a run that is stopped leaves the file as it was or is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(content, indent=1) + "\n")
    partial.replace(path)


def opened(
    path: Path, about: dict[str, Any] | None, resume: bool, under: str = "results"
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The circumstances of a benchmark and what it has measured already, in the form of JSON.

    Without circumstances, those of what was measured stay: nothing is measured now.
    """
    if about is not None and not (resume and path.exists()):
        return about, []
    if not path.exists():
        raise SystemExit(f"{path} does not exist: nothing was measured yet")
    earlier = json.loads(path.read_text())
    results = earlier.pop(under)
    if about is None:
        return earlier, results
    changing = {"date", "commits", "versions"}
    for name in about.keys() - changing:
        if about[name] != earlier.get(name):
            raise SystemExit(
                f"{path} cannot be resumed: its {name}: {earlier.get(name)}, now {about[name]}; "
                "use --out for another file, or measure all anew"
            )
    about["commits"] = list(dict.fromkeys([*earlier["commits"], *about["commits"]]))
    about["versions"] = {**earlier["versions"], **about["versions"]}
    return {**earlier, **about}, results
