"""Thumbnails: of a picture, and of files and rows that must fail, each with its code."""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

from kurabito.conformance import trees
from kurabito.conformance.scenarios.scans import HOUR
from kurabito.conformance.stage import ScenarioStage
from kurabito.settings import PREFIX

WIDTH, HEIGHT, LARGEST = 200, 100, 64
BYTES_PER_SECOND: Final = 100_000
"""What the plane may read, so that a file takes some milliseconds."""
ASKED: Final[dict[str, dict[str, Any]]] = {
    "drawn": {},
    "small": {"max_dimension": 4096},
    "changed": {"source_size_bytes": 7},
    "damaged": {},
    "damaged again": {"error_count": 2},
    "empty": {},
    "escapes": {"output_path": "../escaped.jpg"},
    "lost": {"error_code": "LEASE_EXPIRED", "error_message": "lost", "error_count": 3},
    "not there": {},
}
"""Rows by name, with what is special about them."""
FAILS: Final = {
    "changed": ("FILE_CHANGED", "THUMB-2"),
    "empty": ("THUMB_EMPTY", "THUMB-2"),
    "not there": ("FILE_MISSING", "THUMB-2"),
    "escapes": ("THUMB_OUTPUT_ESCAPES", "THUMB-5"),
    "lost": ("WORKER_LOST", "THUMB-1"),
}


def draw(stage: ScenarioStage) -> None:
    """Have pictures drawn."""
    stage.needs("thumbnail.image")
    folder = stage.library(1)
    picture = _png(WIDTH, HEIGHT)
    now = stage.now()
    for number, (name, special) in enumerate(ASKED.items(), start=1):
        content = {"damaged": picture[:60], "damaged again": picture[:60], "empty": b""}.get(name, picture)
        trees.write(folder, f"{name}.png".encode(), content)
        stage.file(1, f"{name}.png", id=number, size_bytes=len(content), mtime_ns=trees.OLD_NS)
        asked = {
            "id": number,
            "thumb_key": name,
            "file_id": number,
            "group_key": "group",
            "media_type": "image",
            "format": "jpeg",
            "max_dimension": LARGEST,
            "output_path": f"{number}/{number}.jpg",
            "source_size_bytes": len(content),
            "source_mtime_ns": trees.OLD_NS,
            "created_at": now - HOUR,
            "updated_at": now - HOUR,
        }
        stage.insert("thumbnails", **{**asked, **special})
    (folder / "not there.png").unlink()
    stage.start_plane(**{f"{PREFIX}THUMBNAIL_BYTES_PER_SECOND": str(BYTES_PER_SECOND)})
    left = "status IN ('pending', 'running')"
    stage.wait_for(lambda: not stage.rows("thumbnails", left), "THUMB-3", "an end of every thumbnail")
    stage.reach("drawn")


def _png(width: int, height: int) -> bytes:
    """A picture that every decoder knows, made by hand."""
    lines = b"".join(b"\0" + bytes((x + y) % 256 for x in range(width * 3)) for y in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
