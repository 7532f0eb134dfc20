"""Folders of made-up shows, with the disorder of a collection that has grown over years.

Some episodes are there twice, some in both libraries, some as hard links that take no room. A few names are what file
systems allow and programs stumble over, and one may mean two shows.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.demo.pictures import draw_poster
from kurabito.demo.videos import film

SHOWS: Final = "Shows"
ARCHIVE: Final = "Old disk"
COMING: Final = range(5, 9)
"""The episodes of the first show that are still on their way: they are fetched, and put beside the others."""
_NOISE: Final = 32 * 1024
_DAY: Final = 86_400
_FIRST_DAY: Final = 1_700_000_000


class Copy(NamedTuple):
    """A file: where it lies, which content it has, and how long that is if it is a video."""

    path: str
    content: str
    seconds: int = 3
    linked_to: str | None = None


def make_files(folder: Path) -> None:
    """Write the files of both libraries; the same names, contents and times each time."""
    contents: dict[str, bytes] = {}
    for day, copy in enumerate(_collection()):
        path = folder / copy.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if copy.linked_to is not None:
            path.hardlink_to(folder / copy.linked_to)
            continue
        if copy.content not in contents:
            contents[copy.content] = _content_of(copy)
        path.write_bytes(contents[copy.content])
        moment = _FIRST_DAY + day * _DAY
        os.utime(path, (moment, moment))


def _content_of(copy: Copy) -> bytes:
    if copy.path.endswith(".png"):
        return draw_poster(copy.content)
    if copy.path.endswith(".mkv"):
        return film(copy.content, copy.seconds)
    return random.Random(copy.content).randbytes(_NOISE)  # noqa: S311 - made-up contents


def _collection() -> Iterator[Copy]:
    for number in range(1, 13):
        if number in COMING:
            continue
        name = f"The Storehouse at Dawn - {number:02}"
        yield Copy(f"{SHOWS}/The Storehouse at Dawn/Season 1/{name}.mkv", name)
        if number <= 4:
            yield Copy(f"{SHOWS}/incoming/{name} (1).mkv", name)
        if number <= 2:
            yield Copy(f"{ARCHIVE}/backup 2023/{name}.mkv", name)
    for number in range(1, 7):
        name = f"蔵の番人 第{number:02}話"
        yield Copy(f"{SHOWS}/蔵の番人/{name}.mkv", name)
        if number % 2:
            yield Copy(f"{SHOWS}/整理前/{name}.mkv", name)
    title = "Keeper of the Gate (2019)"
    yield Copy(f"{SHOWS}/{title}/{title}.mkv", title, 8)
    # Another name of the same file: it is listed with its copies, and takes no room.
    yield Copy(f"{SHOWS}/Watch next/{title}.mkv", title, 8, linked_to=f"{SHOWS}/{title}/{title}.mkv")
    yield Copy(f"{ARCHIVE}/films/{title}.mkv", title, 8)
    yield Copy(f"{ARCHIVE}/to sort/gate.final.FINAL.mkv", title, 8)
    for place in ("The Storehouse at Dawn", "蔵の番人", "Watch next"):
        yield Copy(f"{SHOWS}/{place}/poster.png", "poster of the storehouse")
    # There are two of this name, which only their keeper can tell apart.
    for number in range(1, 4):
        name = f"The Lantern - {number:02}"
        yield Copy(f"{SHOWS}/The Lantern/{name}.mkv", name)
    for number in range(1, 9):
        yield Copy(f"{ARCHIVE}/drawings/storehouse {number}.png", f"drawing {number}")
    long = ("An Extraordinarily Long Title " * 8).strip()
    yield Copy(f"{SHOWS}/Specials/{long}.mkv", long)
    yield Copy(f"{SHOWS}/incoming/{long}.mkv", long)
    right_to_left = "حارس المخزن"
    yield Copy(f"{ARCHIVE}/{right_to_left}/{right_to_left} - 01.mkv", right_to_left)
    yield Copy(f"{ARCHIVE}/to sort/{right_to_left} - 01.mkv", right_to_left)
    # Its name has bytes from a time before UTF-8, and nothing that can be decoded is left in it.
    yield Copy(f"{ARCHIVE}/" + os.fsdecode(b"caf\xe9 - 01.avi"), "café")
