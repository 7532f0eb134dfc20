"""What moved, what returned, and what is to be hashed then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from kurabito.conformance.checks.registry import check
from kurabito.conformance.checks.scans import SCANNING, has_no_hash
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.scenarios.scans import LINKS, RETURNED
from kurabito.dataplane.files import births
from kurabito.dataplane.files.births import Birth, Suspect

_MOVED: Final = 4
"""Those whose birth is before and near, and the two names of one file."""
_FROM: Final = {"before": "a0", "after": "deep/er/and/deeper/x.bin", "near": ".hidden"}


def _pair(run: Recording, birth: str) -> tuple[Row, dict[str, Row]]:
    """The row of a file before it moved, and all rows after that; raises NotApplicable where no birth is known."""
    after = run.files("second")
    moved = after.get(f"moved/{birth}")
    if moved is not None:
        (found,) = births.look_up(run.folders[1], [Suspect(f"moved/{birth}", moved["inode"], 0)])
        if found is Birth.UNKNOWN:
            raise NotApplicable("the file system does not say when a file was made")
    return run.files("first")[_FROM[birth]], after


@check("MOVE-1", SCANNING)
@check("MOVE-4", SCANNING)
def a_moved_file_keeps_its_row(run: Recording) -> Iterator[str]:
    before, after = _pair(run, "before")
    moved = after.get("moved/before")
    if moved is None or moved["id"] != before["id"] or moved["created_at"] != before["created_at"]:
        yield f"the row {before['id']} of a moved file did not get its new path"
    if _FROM["before"] in after:
        yield "a moved file has a row at its old path, too"
    session = run.rows("second", "scan_sessions", job_id="second")[-1]
    if session["moved_count"] != _MOVED:
        yield f"moved_count is {session['moved_count']} instead of {_MOVED}"
    came = {row["id"] for row in after.values()} - {row["id"] for row in run.files("first").values()}
    if session["added_count"] != len(came) + len(RETURNED):
        yield (
            f"added_count is {session['added_count']}; {len(came)} files were added and did not move, "
            f"{len(RETURNED)} returned"
        )


@check("MOVE-1", SCANNING)
def links_are_paired_in_order(run: Recording) -> Iterator[str]:
    before, after = run.files("first"), run.files("second")
    for number, path in enumerate(LINKS, start=1):
        moved = after.get(f"moved/link {number}")
        if moved is None or moved["id"] != before[path]["id"]:
            yield f"{path!r}, name {number} of a file with two, was not paired with name {number} that came"


@check("MOVE-3", SCANNING)
def a_hash_moves_only_with_the_known_file(run: Recording) -> Iterator[str]:
    _, after = _pair(run, "before")
    if "moved/before" in after and after["moved/before"]["content_hash"] is None:
        yield "a file that is certainly the known one lost its hash when it moved"
    if "moved/near" in after and not has_no_hash(after["moved/near"]):
        yield "a file that may be another one than the known kept its hash"


@check("MOVE-2", SCANNING)
def a_file_made_later_is_another(run: Recording) -> Iterator[str]:
    before, after = _pair(run, "after")
    if after.get("moved/after", before)["id"] == before["id"]:
        yield "a file that was made after the known one was last seen was taken for it"
    old = after.get(_FROM["after"])
    if old is None or not old["is_missing"]:
        yield "the row of the file that is gone is not missing"


@check("MOVE-5", SCANNING)
def a_file_that_returned(run: Recording) -> Iterator[str]:
    _, after = _pair(run, "before")
    same, other = after["raw/a.mkv"], after["a.PART"]
    if same["is_missing"] or same["content_hash"] is None:
        yield "a file that is back as it was is missing, or lost its hash"
    if other["is_missing"] or not has_no_hash(other):
        yield "another file at a path that was missing is missing, or has the old hash"
    near = after["keep.tmp"]
    if near["is_missing"] or not has_no_hash(near):
        yield "a file that is back, and may be another one by its birth, is missing, or has the old hash"


@check("CAND-1", SCANNING)
def exactly_the_candidates_wait(run: Recording) -> Iterator[str]:
    for moment in ("first", "second"):
        rows = [row for row in run.rows(moment, "library_files") if not row["is_missing"]]
        sizes = Counter(row["size_bytes"] for row in rows)
        for row in rows:
            is_wanted = row["size_bytes"] > 0 and sizes[row["size_bytes"]] > 1
            waits, path = bool(row["needs_hash"]), row["relative_path"]
            if is_wanted and not waits and row["content_hash"] is None:
                yield f"after the {moment} scan {path!r} shares its size and does not wait for a hash"
            elif not is_wanted and (waits or row["content_hash"] is not None):
                yield f"after the {moment} scan {path!r} has a size of its own, and waits for a hash or has one"
