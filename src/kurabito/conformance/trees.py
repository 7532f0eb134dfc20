"""Folders as they are found on real disks: odd names, links, loops, pipes, bins, holes and copies."""

from __future__ import annotations

import mmap
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.terms import EDGE, READ_WHOLE

IGNORED: Final = (
    *("*.tmp", "!keep.tmp", "/extras/*.txt", "shows/**/raw/", "[ab]?.log"),
    *("st/**", "[^q]q.set", "[b-a]r.set", "[!b-a]s.set", "#hash.set", "tail ", "back\\*.set", "[]u]u.set"),
)
"""The patterns of the library that has the odd tree, beside those that every library has."""
OLD_NS: Final = 1_600_000_000_123_456_789
"""The mtime of what is planted: long before any row."""
HUGE: Final = 256 << 30
"""A file that cannot be read to its end while a scenario lasts. It is one hole, and takes no room where `holes_stay` says so."""

_TRIED: Final = 1 << 20
"""Bytes of a hole that are read to see what becomes of it."""


@dataclass(frozen=True, slots=True)
class Planted:
    """Something that was put into a folder, and what a scan has to make of it."""

    name: bytes
    """Its path below the folder."""
    text: str | None
    """Its `relative_path`; None when a plane must leave it out."""
    rule: str
    """The rule that says so."""


_SEEN: Final = (
    (b"plain.mkv", "plain.mkv", "SCAN-4"),
    (b"a.mkv", "a.mkv", "SCAN-4"),
    (b"a/b.mkv", "a/b.mkv", "SCAN-4"),
    (b"a0", "a0", "SCAN-4"),
    (b"deep/er/and/deeper/x.bin", "deep/er/and/deeper/x.bin", "SCAN-4"),
    (b".hidden", ".hidden", "SCAN-4"),
    (b"empty", "empty", "SCAN-4"),
    (b"empty too", "empty too", "SCAN-4"),
    (b"caf\xc3\xa9.mkv", "café.mkv", "PATH-2"),
    (b"cafe\xcc\x81.mkv", "cafe\u0301.mkv", "PATH-2"),
    (b"caf\xe9.mkv", "caf\uefe9.mkv", "PATH-2"),
    (b"\xee\xbe\x80", "\uefee\uefbe\uef80", "PATH-2"),
    (b"dir\xff/\xfe.bin", "dir\uefff/\ueffe.bin", "PATH-2"),
    (b" two  spaces ", " two  spaces ", "PATH-2"),
    (b"line\nbreak", "line\nbreak", "PATH-2"),
    (b"per%cent'quote\"", "per%cent'quote\"", "PATH-2"),
    (b"back\\slash", "back\\slash", "PATH-2"),
    (b"\xf0\x9f\x8e\xac.mkv", "\U0001f3ac.mkv", "PATH-2"),
    (b"keep.tmp", "keep.tmp", "IGNORE-1"),
    (b"x/extras/a.txt", "x/extras/a.txt", "IGNORE-1"),
    (b"raw/a.mkv", "raw/a.mkv", "IGNORE-1"),
    (b"a.part.mkv", "a.part.mkv", "IGNORE-1"),
    (b"a.PART", "a.PART", "IGNORE-1"),
    (b"@eaDir.mkv", "@eaDir.mkv", "IGNORE-1"),
    (b"c1.log", "c1.log", "IGNORE-1"),
    (b"x/st/a", "x/st/a", "IGNORE-1"),
    (b"xq.set", "xq.set", "IGNORE-1"),
    (b"ar.set", "ar.set", "IGNORE-1"),
    (b"tail", "tail", "IGNORE-1"),
    (b"back*.set", "back*.set", "IGNORE-1"),
    (b"\xef\xbc\x81.mkv", "\uff01.mkv", "PATH-2"),
    (b".kurabito-trashed/a", ".kurabito-trashed/a", "TRASH-2"),
)
_LEFT_OUT: Final = (
    (b"x/y.tmp", "IGNORE-1"),
    (b"extras/a.txt", "IGNORE-1"),
    (b"shows/raw/a.mkv", "IGNORE-1"),
    (b"shows/a/b/raw/c/d.mkv", "IGNORE-1"),
    (b"a1.log", "IGNORE-1"),
    (b"download.part", "IGNORE-1"),
    (b"x/@eaDir/thumb.jpg", "IGNORE-1"),
    (b"lost+found/piece", "IGNORE-1"),
    (b"st/a/b", "IGNORE-1"),
    (b"^q.set", "IGNORE-1"),
    (b"qq.set", "IGNORE-1"),
    (b"zs.set", "IGNORE-1"),
    (b"#hash.set", "IGNORE-1"),
    (b"tail ", "IGNORE-1"),
    (b"back\\x.set", "IGNORE-1"),
    (b"]u.set", "IGNORE-1"),
    (TRASH_FOLDER.encode() + b"/0123456789abcdef0123456789abcdef", "TRASH-2"),
    (b"a/" + TRASH_FOLDER.encode() + b"/fedcba9876543210fedcba9876543210", "TRASH-2"),
)


def plant_odd_tree(folder: Path, outside: Path) -> list[Planted]:
    """Make a tree that has something of everything; `outside` is a folder that no scan may enter."""
    planted = [Planted(name, text, rule) for name, text, rule in _SEEN]
    planted += [Planted(name, None, rule) for name, rule in _LEFT_OUT]
    for number, one in enumerate(planted):
        content = b"" if one.name.startswith(b"empty") else bytes([65 + number % 26]) * (100 + number)
        write(folder, one.name, content)
    write(outside, b"secret.mkv", b"not of any library")
    links = {b"link.mkv": folder / "plain.mkv", b"link": outside, b"a/loop": folder, b"dangling": folder / "nothing"}
    for name, target in links.items():
        os.symlink(target, os.path.join(os.fsencode(folder), name))  # noqa: PTH118, PTH211 - names are bytes
    os.mkfifo(folder / "pipe")
    planted += [Planted(name, None, "SCAN-4") for name in (*links, b"link/secret.mkv", b"a/loop/a.mkv", b"pipe")]
    return planted


def listing(folder: Path, *, besides: Path | None = None) -> dict[str, tuple[int, int, int, int]]:
    """Mode, size, mtime and inode of all that lies below a folder, by its path; with one place left out."""
    found = {}
    for path in folder.rglob("*"):
        if besides is None or besides not in (path, *path.parents):
            seen = path.lstat()
            name = os.fsencode(path.relative_to(folder)).decode(errors="backslashreplace")
            found[name] = (seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ino)
    return found


def write(folder: Path, name: bytes, content: bytes, mtime_ns: int = OLD_NS) -> None:
    """Write a file with its folders."""
    path = os.path.join(os.fsencode(folder), name)  # noqa: PTH118 - names are bytes
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(content)
    os.utime(path, ns=(mtime_ns, mtime_ns))


def holes_stay(folder: Path) -> bool:
    """Whether what is read of a hole takes no room: in memory (tmpfs) it does, when a program maps the file."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.truncate(_TRIED)
        with mmap.mmap(file.fileno(), _TRIED, prot=mmap.PROT_READ) as window:
            bytes(window)
        return os.fstat(file.fileno()).st_blocks == 0


def place_for_holes() -> Path:
    """The folder for temporary files, or another one on a disk where that is in memory."""
    usual = Path(tempfile.gettempdir())
    for place in (usual, Path("/var/tmp"), Path.cwd()):  # noqa: S108 - it makes a folder of its own there
        with suppress(OSError):
            if holes_stay(place):
                return place
    return usual


def write_hole(folder: Path, name: str, size: int = HUGE) -> None:
    """Make a file that is one hole."""
    with (folder / name).open("wb") as file:
        file.truncate(size)


def plant_copies(folder: Path) -> None:
    """Files that are equal, and files that only look so: by their size, or by size and ends."""
    edge, middle = b"e" * EDGE, READ_WHOLE + 5000
    contents = {
        "small/one": b"0123456789",
        "small/two": b"0123456789",
        "small/other": b"9876543210",
        "large/one": edge + b"m" * middle + edge,
        "large/two": edge + b"m" * middle + edge,
        "large/same-ends": edge + b"n" * middle + edge,
        "large/other-ends": b"f" * EDGE + b"m" * middle + edge,
        "exactly": b"x" * READ_WHOLE,
        "exactly-too": b"x" * READ_WHOLE,
        "alone": b"a size that no other file has",
        "empty/one": b"",
        "empty/two": b"",
    }
    for name, content in contents.items():
        write(folder, name.encode(), content)
