"""Placements: files that come into a library, and files that must not."""

from __future__ import annotations

from typing import Any, Final

from kurabito.conformance import trees
from kurabito.conformance.scenarios.scans import HOUR
from kurabito.conformance.scenarios.upkeep import wait_until_tried
from kurabito.conformance.stage import ScenarioStage

NOT_OURS: Final = ".kurabito-mine.part"
"""A file that looks like one that a plane left, and is the keeper's."""
WORSE: Final = b"the file that was there before"
_REPLACES: Final = {"mode": "copy", "replaces_size_bytes": len(WORSE), "replaces_mtime_ns": trees.OLD_NS}
WORSE_PATH: Final = "show/worse.mkv"
"""A file that is replaced by one of another name."""
OLD_NAME: Final = "show/old name.mkv"
TEXT: Final = b"what is to be written"
_WRITTEN: Final = {"mode": "write", "source_root": None, "source_path": None, "source_mtime_ns": None}
ASKED: Final[dict[str, dict[str, Any]]] = {
    "better": {**_REPLACES, "replaces_path": "show/better.mkv", "trash_id": "5f" * 16},
    "too late": {**_REPLACES, "replaces_path": "show/too late.mkv", "trash_id": "6a" * 16, "replaces_mtime_ns": 7},
    "linked": {"mode": "link"},
    "copied": {"mode": "copy"},
    "moved": {"mode": "move"},
    "found": {"mode": "copy"},
    "changed": {"mode": "copy", "source_mtime_ns": 5},
    "taken": {"mode": "copy"},
    "empty root": {"mode": "copy", "library_id": 2},
    "through a link": {"mode": "copy", "target_path": "elsewhere/through a link.mkv"},
    "no room": {"mode": "copy", "reserve_bytes": 1 << 60},
    "not there": {"mode": "link"},
    "written": {**_WRITTEN, "content": TEXT, "size_bytes": len(TEXT)},
    "tidied": {"mode": "move", "is_placed": 1},
    "tidied too late": {"mode": "move", "is_placed": 1},
    "written over": {**_WRITTEN, "content": TEXT, "size_bytes": len(TEXT)},
    "better elsewhere": {**_REPLACES, "replaces_path": WORSE_PATH, "trash_id": "7b" * 16},
    "renamed": {"mode": "rename", "source_root": None, "source_path": OLD_NAME},
}
"""Placements by name, with what is special about them."""
REFUSED: Final = {
    "changed": ("failed", "FILE_CHANGED", "PLACE-2"),
    "taken": ("failed", "TARGET_EXISTS", "PLACE-3"),
    "empty root": ("pending", "ROOT_EMPTY", "PLACE-1"),
    "through a link": ("failed", "PATH_ESCAPES", "PLACE-1"),
    "no room": ("pending", "DISK_FULL", "PLACE-4"),
    "not there": ("failed", "FILE_MISSING", "PLACE-9"),
    "too late": ("failed", "TARGET_EXISTS", "PLACE-10"),
    "tidied too late": ("failed", "FILE_MISSING", "PLACE-12"),
    "written over": ("failed", "TARGET_EXISTS", "PLACE-11"),
}
"""By name: the status, the code, and the rule."""


def content_of(name: str) -> bytes:
    """What is in the source of a placement."""
    return name.encode() * 50


def place(stage: ScenarioStage) -> None:
    """Have files placed by every mode that needs no special file system, and refused for every cause that can be made."""
    stage.needs("place")
    source, library = stage.folder / "done", stage.library(1)
    stage.library(2)
    stage.file(2, "known.mkv")
    outside = stage.folder / "outside"
    outside.mkdir()
    (library / "elsewhere").symlink_to(outside)
    trees.write(library, f"show/{NOT_OURS}".encode(), b"mine")
    trees.write(library, b"show/taken.mkv", b"another file")
    trees.write(library, b"show/written over.mkv", WORSE)
    trees.write(library, b"show/found.mkv", content_of("found"))
    trees.write(library, b"show/tidied.mkv", content_of("tidied"))
    for path in ("show/better.mkv", "show/too late.mkv", WORSE_PATH):
        trees.write(library, path.encode(), WORSE)
        stage.file(1, path, size_bytes=len(WORSE), mtime_ns=trees.OLD_NS)
    trees.write(library, OLD_NAME.encode(), content_of("renamed"))
    known = {"size_bytes": len(content_of("renamed")), "mtime_ns": trees.OLD_NS}
    stage.file(1, OLD_NAME, **known, needs_hash=0, hash_algorithm="blake3", content_hash=b"h" * 32)
    stage.file(1, "show/renamed.mkv", is_missing=1)
    stage.reach("begun")
    now = stage.now()
    for number, (name, special) in enumerate(ASKED.items(), start=1):
        content = content_of(name)
        trees.write(source, f"{name}.mkv".encode(), content)
        asked = {
            "id": number,
            "library_id": 1,
            "source_root": str(source),
            "source_path": f"{name}.mkv",
            "size_bytes": len(content),
            "source_mtime_ns": trees.OLD_NS,
            "target_path": f"show/{name}.mkv",
            "created_at": now - HOUR,
            "updated_at": now - HOUR,
        }
        stage.insert("placements", **{**asked, **special})
    (source / "not there.mkv").unlink()
    stage.start_plane()
    wait_until_tried(stage, "placements", "PLACE-7")
    stage.reach("placed")
