"""Placements: what is in its place afterwards, what was replaced, and how they wait and fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kurabito.conformance.checks.registry import check
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.scenarios.placing import (
    ASKED,
    NOT_OURS,
    OLD_NAME,
    REFUSED,
    TEXT,
    WORSE,
    WORSE_PATH,
    content_of,
)
from kurabito.conformance.trees import OLD_NS
from kurabito.protocol.deletion import TRASH_FOLDER

PLACING: Final = "placing"
_OF_A_FOLDER: Final = ("ROOT_UNAVAILABLE", "ROOT_EMPTY")
_PLACED: Final = {"linked": "link", "copied": "copy", "moved": "move"}


def _row(run: Recording, name: str) -> Row:
    return run.rows("placed", "placements", id=list(ASKED).index(name) + 1)[0]


def _target(run: Recording, name: str) -> Path:
    return run.folders[1] / "show" / f"{name}.mkv"


def _source(run: Recording, name: str) -> Path:
    return run.folders[1].parent / "done" / f"{name}.mkv"


def _refused_by(run: Recording, rule: str) -> Iterator[str]:
    for name, (status, code, by) in REFUSED.items():
        row = _row(run, name)
        if by == rule and (row["status"], row["error_code"]) != (status, code):
            yield f"the placement {name!r} is {row['status']} with {row['error_code']} instead of {status} with {code}"


@check("PLACE-1", PLACING)
def folders_are_opened_with_care(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "PLACE-1")
    if any((run.folders[1].parent / "outside").iterdir()):
        yield "a file was placed through a link, outside of its library"
    if any(run.folders[2].iterdir()):
        yield "a file was placed into the empty folder of a library that has files"


@check("PLACE-2", PLACING)
def a_source_is_the_one_that_was_meant(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "PLACE-2")
    if _target(run, "changed").exists():
        yield "a source of another mtime was placed"


@check("PLACE-3", PLACING)
def no_file_is_replaced(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "PLACE-3")
    if _target(run, "taken").read_bytes() != b"another file":
        yield "a file was replaced"
    row = _row(run, "found")
    if (row["status"], row["method"]) != ("completed", "found"):
        yield f"a file of equal content was there, and the placement is {row['status']} by {row['method']}"


@check("PLACE-4", PLACING)
def a_copy_leaves_room_and_has_its_mtime(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "PLACE-4")
    copy = _target(run, "copied")
    if not copy.exists() or copy.read_bytes() != content_of("copied") or copy.stat().st_mtime_ns != OLD_NS:
        yield "a copy is not there, or has another content or mtime than its source"
    left = [path.name for path in run.folders[1].rglob("*.part") if path.name != NOT_OURS]
    if left:
        yield f"the part file {left[0]!r} was left"


@check("PLACE-5", PLACING)
def what_gets_the_name_is_written_first(run: Recording) -> Iterator[str]:
    for name in _PLACED:
        row = _row(run, name)
        mine = [write.new for write in run.writes_to("placements") if write.row["id"] == row["id"]]
        intents = [new for new in mine if new["status"] == "running" and new["placed_inode"] is not None]
        # What is written in the transaction of the end comes too late, and has its time.
        if all(new["updated_at"] == row["updated_at"] for new in intents):
            yield f"which file gets the name of {name!r} was not written before it got it"


@check("PLACE-6", PLACING)
def a_source_goes_last(run: Recording) -> Iterator[str]:
    if _source(run, "moved").exists() or not _target(run, "moved").exists():
        yield "a file that was moved is at its source, or not at its target"
    for name in ("linked", "copied", *REFUSED):
        if name != "not there" and not _source(run, name).exists():
            yield f"the source of {name!r} is gone"


@check("PLACE-7", PLACING)
def the_library_knows_the_file(run: Recording) -> Iterator[str]:
    files = run.files("placed")
    for name, method in _PLACED.items():
        row, file, target = _row(run, name), files.get(f"show/{name}.mkv"), _target(run, name)
        if (row["status"], row["method"]) != ("completed", method):
            yield f"the placement {name!r} is {row['status']} by {row['method']} with {row['error_code']}"
        elif file is None or (file["size_bytes"], file["inode"]) != (target.stat().st_size, target.stat().st_ino):
            yield f"library_files does not know the file of {name!r} as it is"
    if _target(run, "linked").exists() and not _target(run, "linked").samefile(_source(run, "linked")):
        yield "a file that was to be linked is another one than its source"


@check("PLACE-7", PLACING)
def a_renamed_file_keeps_its_row(run: Recording) -> Iterator[str]:
    row, before, after = _row(run, "renamed"), run.files("begun")[OLD_NAME], run.files("placed")
    if (row["status"], row["method"]) != ("completed", "rename"):
        yield f"the placement 'renamed' is {row['status']} by {row['method']} with {row['error_code']}"
    if (run.folders[1] / OLD_NAME).exists() or not _target(run, "renamed").exists():
        yield "a file that was renamed is under its old name, or not under its new one"
    known = after.get("show/renamed.mkv", {})
    kept = {column: known.get(column) for column in ("id", "content_hash", "is_missing")}
    if OLD_NAME in after or kept != {column: before[column] for column in kept}:
        yield f"a file that was renamed has the row {kept}, and had {before['id']} before"


@check("PLACE-8", PLACING)
def what_is_not_ours_stays(run: Recording) -> Iterator[str]:
    if not (run.folders[1] / "show" / NOT_OURS).exists():
        yield f"the file {NOT_OURS!r} was removed, which no placement had left"


@check("PLACE-9", PLACING)
def other_ends_have_their_codes(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "PLACE-9")


@check("WAIT-3", PLACING)
def facts_name_the_file(run: Recording) -> Iterator[str]:
    for name, (_, code, _) in REFUSED.items():
        facts = json.loads(_row(run, name)["error_facts"] or "{}")
        if not facts.get("folder" if code in _OF_A_FOLDER else "path"):
            yield f"the placement {name!r} has {code} with the facts {facts}"
        elif code == "TARGET_EXISTS":
            there = _target(run, name).stat()
            if (facts.get("size"), facts.get("mtime_ns")) != (there.st_size, there.st_mtime_ns):
                yield f"the placement {name!r} tells {facts} of the file that has the name"


@check("PLACE-10", PLACING)
def what_is_replaced_goes_to_the_trash(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "PLACE-10")
    if _target(run, "too late").read_bytes() != WORSE:
        yield "a file that changed since the placement was decided was replaced"
    row, trash = _row(run, "better"), run.folders[1] / TRASH_FOLDER
    if row["status"] != "completed" or _target(run, "better").read_bytes() != content_of("better"):
        yield f"a placement that takes the place of a file is {row['status']} with {row['error_code']}"
    old = trash / row["trash_id"]
    if not old.exists() or old.read_bytes() != WORSE or not (trash / f"{row['trash_id']}.json").exists():
        yield "the file that was replaced does not lie in the trash with its sidecar"
    successors = [entry["successor_path"] for entry in run.rows("placed", "trash_entries", id=row["trash_id"])]
    if successors != ["show/better.mkv"]:
        yield f"trash_entries tells of the successors {successors}"
    yield from _replaced_elsewhere(run)


def _replaced_elsewhere(run: Recording) -> Iterator[str]:
    """A file that makes room for one of another name."""
    row = _row(run, "better elsewhere")
    old = run.folders[1] / TRASH_FOLDER / row["trash_id"]
    if row["status"] != "completed" or (run.folders[1] / WORSE_PATH).exists() or not old.exists():
        yield f"a placement that replaces a file of another name is {row['status']} with {row['error_code']}"
    if not run.files("placed")[WORSE_PATH]["is_missing"]:
        yield "a file that was replaced by one of another name is not missing"
    entries = run.rows("placed", "trash_entries", id=row["trash_id"])
    if [(entry["relative_path"], entry["successor_path"]) for entry in entries] != [
        (WORSE_PATH, "show/better elsewhere.mkv")
    ]:
        yield f"trash_entries tells {entries} of it"


@check("PLACE-11", PLACING)
def what_the_row_has_is_written(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "PLACE-11")
    if _target(run, "written over").read_bytes() != WORSE:
        yield "a file was written over"
    row, target = _row(run, "written"), _target(run, "written")
    if (row["status"], row["method"]) != ("completed", "write"):
        yield f"the placement 'written' is {row['status']} by {row['method']} with {row['error_code']}"
    elif target.read_bytes() != TEXT or "show/written.mkv" not in run.files("placed"):
        yield "what was to be written is not in its file, or library_files does not know it"


@check("PLACE-12", PLACING)
def only_a_name_goes(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "PLACE-12")
    if _target(run, "tidied too late").exists() or not _source(run, "tidied too late").exists():
        yield "a file was moved to a place that it was to have already"
    row = _row(run, "tidied")
    if row["status"] != "completed" or _source(run, "tidied").exists():
        yield f"the name of a file that has its place is there, and its placement {row['status']} with {row['error_code']}"
    if not _target(run, "tidied").exists() or _target(run, "tidied").read_bytes() != content_of("tidied"):
        yield "the file that has its place is gone from there, or another"
