"""Thumbnails: their size, their place, and how they fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kurabito.clock import SECOND
from kurabito.conformance.checks.registry import check
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.scenarios.thumbnails import ASKED, BYTES_PER_SECOND, FAILS, HEIGHT, LARGEST, WIDTH
from kurabito.protocol.leased.thumbnails import IO_BUCKET, retry_delay

DRAWING: Final = "drawing"
_JPEG: Final = b"\xff\xd8"


def _row(run: Recording, name: str) -> Row:
    return run.rows("drawn", "thumbnails", thumb_key=name)[0]


def _thumbs(run: Recording) -> Path:
    return run.folders[1].parent / "state" / "thumbs"


def _failed_by(run: Recording, rule: str) -> Iterator[str]:
    for name, (code, by) in FAILS.items():
        row = _row(run, name)
        if by == rule and (row["status"], row["error_code"]) != ("failed", code):
            yield f"the thumbnail {name!r} is {row['status']} with {row['error_code']} instead of failed with {code}"


@check("THUMB-1", DRAWING)
def what_lost_three_workers_is_given_up(run: Recording) -> Iterator[str]:
    yield from _failed_by(run, "THUMB-1")


@check("THUMB-2", DRAWING)
def only_the_file_that_was_meant_is_drawn(run: Recording) -> Iterator[str]:
    yield from _failed_by(run, "THUMB-2")


@check("THUMB-3", DRAWING)
def what_cannot_be_decoded_fails(run: Recording) -> Iterator[str]:
    for name in ("damaged", "damaged again"):
        row = _row(run, name)
        if row["status"] != "failed" or not str(row["error_code"]).startswith("THUMB_"):
            yield f"a damaged picture is {row['status']} with {row['error_code']}"


@check("THUMB-4", DRAWING)
def a_picture_has_its_size(run: Recording) -> Iterator[str]:
    for name, expected in (("drawn", (LARGEST, LARGEST * HEIGHT // WIDTH)), ("small", (WIDTH, HEIGHT))):
        row = _row(run, name)
        path = _thumbs(run) / row["output_path"]
        if (row["width"], row["height"]) != expected:
            yield f"the picture {name!r} has {row['width']} x {row['height']} pixels instead of {expected}"
        if path.exists() and not path.read_bytes().startswith(_JPEG):
            yield f"the picture {name!r} is no JPEG"


@check("THUMB-5", DRAWING)
def a_picture_has_its_place(run: Recording) -> Iterator[str]:
    yield from _failed_by(run, "THUMB-5")
    if (_thumbs(run).parent / "escaped.jpg").exists():
        yield "a picture was written outside of the folder of thumbnails"
    for name in ("drawn", "small"):
        row, path = _row(run, name), _thumbs(run) / _row(run, name)["output_path"]
        if row["status"] != "ready" or not path.exists() or path.stat().st_size != row["bytes_size"]:
            yield f"the picture {name!r} is {row['status']}, and not at its output_path with its bytes_size"


@check("THUMB-6", DRAWING)
def a_failure_is_put_off(run: Recording) -> Iterator[str]:
    for name in ("damaged", "damaged again", "changed"):
        row, failures = _row(run, name), ASKED[name].get("error_count", 0) + 1
        if row["error_count"] != failures or row["retry_after"] is None or not row["error_message"]:
            yield f"error_count of {name!r} is {row['error_count']} instead of {failures}"
        elif abs(row["retry_after"] - row["finished_at"] - retry_delay(failures)) > SECOND:
            yield f"{name!r} is tried again after {(row['retry_after'] - row['finished_at']) / SECOND:g} s"


@check("IO-1", DRAWING)
def a_read_is_reserved(run: Recording) -> Iterator[str]:
    writes = list(run.writes_to("io_rate_limits"))
    if not writes:
        raise NotApplicable("the plane has no limit of reading")
    yield from (
        f"there is one bucket, {IO_BUCKET}: {write}" for write in writes if write.row["bucket_key"] != IO_BUCKET
    )
    taken = [write for write in writes if write.operation == "UPDATE"]
    reserved = [_ends(write.new) - max(_ends(write.old), write.new["updated_at"] // 1000) for write in taken]
    yield from (f"no time was reserved: {write}" for write, cost in zip(taken, reserved, strict=True) if cost <= 0)
    needed = _row(run, "drawn")["source_size_bytes"] * 1000 // BYTES_PER_SECOND
    if sum(reserved) < needed:
        yield f"{sum(reserved)} ms were reserved, and one picture alone takes {needed} ms to read"


def _ends(row: Row) -> int:
    return int(row["next_available_at_ms"])
