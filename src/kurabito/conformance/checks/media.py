"""What is in sound and films."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from kurabito.conformance.checks.registry import check
from kurabito.conformance.recording import Recording
from kurabito.conformance.scenarios.media import BROKEN, EMPTY, SECONDS, SOUND
from kurabito.protocol.error_codes import ErrorCode

MEDIA: Final = "media"
_KEYS: Final = ("container", "duration_ms", "video", "audio", "subtitles")
_MARGIN: Final = 0.1
_CODES: Final = frozenset(code.value for code in ErrorCode if code.startswith("THUMB_"))


@check("MEDIA-1", MEDIA)
def files_that_are_there_have_a_row(run: Recording) -> Iterator[str]:
    rows = {row["relative_path"]: row for row in run.rows("read", "inspected_media", inspection_id=1)}
    if rows.keys() != {SOUND, BROKEN, EMPTY}:
        yield f"there are rows of {sorted(rows)} instead of {sorted((SOUND, BROKEN, EMPTY))}"
    for path, row in rows.items():
        seen = (run.folders[1] / path).stat()
        if (row["size_bytes"], row["mtime_ns"]) != (seen.st_size, seen.st_mtime_ns):
            yield f"{path} has {row['size_bytes']} bytes of {row['mtime_ns']}"


@check("MEDIA-2", MEDIA)
def facts_are_an_object_or_a_code(run: Recording) -> Iterator[str]:
    for row in run.rows("read", "inspected_media", relative_path=SOUND):
        facts = json.loads(row["facts"] or "{}")
        length = facts.get("duration_ms") or 0
        if any(key not in facts for key in _KEYS) or abs(length / 1000 - SECONDS) > _MARGIN:
            yield f"the facts of {SECONDS} s of sound are {facts}"
        elif [(one.get("codec"), one.get("channels")) for one in facts["audio"]] != [("pcm_s16le", 1)]:
            yield f"its tracks of sound are {facts['audio']}"
    for path in (BROKEN, EMPTY):
        for row in run.rows("read", "inspected_media", relative_path=path):
            if row["facts"] is not None or row["error_code"] not in _CODES:
                yield f"{path!r} is no film, and has the facts {row['facts']} and the code {row['error_code']}"


@check("MEDIA-3", MEDIA)
def an_inspection_ends_with_its_count(run: Recording) -> Iterator[str]:
    rows = run.rows("read", "inspected_media", inspection_id=1)
    (row,) = run.rows("read", "inspections", id=1)
    counted = ("completed", len(rows), sum(one["size_bytes"] for one in rows))
    if (row["status"], row["file_count"], row["total_bytes"]) != counted:
        yield f"it is {row['status']} with {row['file_count']} files instead of {counted}"
    (away,) = run.rows("read", "inspections", id=2)
    if (away["status"], away["error_code"]) != ("pending", "ROOT_UNAVAILABLE"):
        yield f"of a folder that is not there it is {away['status']} with {away['error_code']}"
