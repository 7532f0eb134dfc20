"""Looks at the disks after data planes were killed: knows what each file has to contain, and nothing of Kurabito.

Reads lines of JSON: `files`, each with the SHA-256 of its content, its `target`, its `source` if it has one, and whether it
`leaves` that; and `folders` once everything has to be over. Answers each line with what is wrong, as a list of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any


def faults_at_any_moment(file: dict[str, Any]) -> Iterator[str]:
    """A content that is lost, and a final name before what is whole."""
    target = Path(file["target"])
    if target.exists() and not is_whole(target, file):
        yield f"half there: {target}"
    if file["source"] is None:
        return
    source = Path(file["source"])
    if not any(is_whole(place, file) for place in (source, target, *own_names(source))):
        yield f"lost: {source}"
    if not file["leaves"] and not source.exists():
        yield f"gone: {source}"


def faults_at_the_end(files: list[dict[str, Any]], folders: list[str]) -> Iterator[str]:
    """What is not where it should be, and what is there besides."""
    expected = {Path(file["target"]) for file in files}
    expected |= {Path(file["source"]) for file in files if file["source"] is not None and not file["leaves"]}
    found = {path for folder in folders for path in Path(folder).rglob("*") if not path.is_dir()}
    yield from (f"missing: {path}" for path in expected - found)
    yield from (f"left over: {path}" for path in found - expected)


def is_whole(path: Path, file: dict[str, Any]) -> bool:
    return path.exists() and sha256(path.read_bytes()).hexdigest() == file["content"]


def own_names(file: Path) -> Iterator[Path]:
    """Names that a removal gives a file for a moment, beside its own."""
    if file.parent.exists():
        yield from (path for path in file.parent.iterdir() if path.name.startswith(f"{file.name}."))


for line in sys.stdin:
    given = json.loads(line)
    faults = [fault for file in given["files"] for fault in faults_at_any_moment(file)]
    faults += faults_at_the_end(given["files"], given["folders"]) if "folders" in given else []
    sys.stdout.write(json.dumps(faults) + "\n")
    sys.stdout.flush()
