"""Looks at the disks after data planes were killed: knows what each file has to contain, and nothing of Kurabito.

Reads lines of JSON: `files`, each with the SHA-256 of its content, its `target`, its `source` if it has one, and whether it
`leaves` that; for a file that takes the place of another, the SHA-256 of that one as `old`, where it was as `old_path`, and
where it lies in the end as `trashed`; and `folders` once everything has to be over. Answers each line with what is wrong, as a
list of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any


def faults_at_any_moment(file: dict[str, Any]) -> Iterator[str]:
    """A content that is lost, and a final name before what is whole."""
    target = Path(file["target"])
    old = file.get("old")
    if target.exists() and content_of(target) not in {
        file["content"],
        old if str(target) == file.get("old_path") else file["content"],
    }:
        yield f"half there: {target}"
    if old is not None:
        places = {Path(file["old_path"]), *own_names(Path(file["old_path"])), *beside(file["trashed"])}
        if not any(content_of(place) == old for place in places):
            yield f"old one lost: {file['old_path']}"
    if file["source"] is None:
        return
    source = Path(file["source"])
    places = {source, target, *own_names(source), *(beside(file["trashed"]) if old is not None else ())}
    if not any(content_of(place) == file["content"] for place in places):
        yield f"lost: {source}"
    if not file["leaves"] and not source.exists():
        yield f"gone: {source}"


def faults_at_the_end(files: list[dict[str, Any]], folders: list[str]) -> Iterator[str]:
    """What is not where it should be, and what is there besides."""
    expected = {Path(file["target"]) for file in files}
    expected |= {Path(file["source"]) for file in files if file["source"] is not None and not file["leaves"]}
    for file in files:
        if file.get("old") is not None:
            expected |= {Path(file["trashed"]), Path(file["trashed"] + ".json")}
            if content_of(Path(file["trashed"])) != file["old"]:
                yield f"not in the trash: {file['trashed']}"
        if content_of(Path(file["target"])) != file["content"]:
            yield f"not in its place: {file['target']}"
    expected |= {Path(path) for file in files for path in file.get("stays", ())}
    found = {path for folder in folders for path in Path(folder).rglob("*") if not path.is_dir()}
    yield from (f"missing: {path}" for path in expected - found)
    yield from (f"left over: {path}" for path in found - expected)


@cache
def content_of(path: Path) -> str | None:
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def beside(file: str) -> Iterator[Path]:
    """Everything in the folder of a file: the trash, where names are given for a moment."""
    yield from everything_in(Path(file).parent)


@cache
def everything_in(folder: Path) -> tuple[Path, ...]:
    return tuple(folder.iterdir()) if folder.exists() else ()


def own_names(file: Path) -> Iterator[Path]:
    """Names that a removal gives a file for a moment, beside its own."""
    if file.parent.exists():
        yield from (path for path in file.parent.iterdir() if path.name.startswith(f"{file.name}."))


for line in sys.stdin:
    # Nothing changes while one line is answered.
    content_of.cache_clear()
    everything_in.cache_clear()
    given = json.loads(line)
    faults = [fault for file in given["files"] for fault in faults_at_any_moment(file)]
    faults += faults_at_the_end(given["files"], given["folders"]) if "folders" in given else []
    sys.stdout.write(json.dumps(faults) + "\n")
    sys.stdout.flush()
