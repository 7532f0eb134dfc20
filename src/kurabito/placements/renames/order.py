"""Which rename comes first: none may meet a name that another file has at that moment."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kurabito.placements.naming.renames import Rename
from kurabito.placements.naming.safe_names import twin_key


def in_order(renames: Sequence[Rename], paths: Collection[str]) -> tuple[list[Rename], list[str]]:
    """The renames, each after the one that frees its name; and the files whose new name stays taken.

    `paths` are all files of the library. A file that only changes its case has its own name in the way, and may go.

    >>> in_order([Rename("a", "b"), Rename("b", "c")], ["a", "b"])
    ([Rename(path='b', target='c'), Rename(path='a', target='b')], [])
    """
    holders = {twin_key(path): path for path in paths}
    waiting: dict[str, list[Rename]] = {}
    free: list[Rename] = []
    for rename in renames:
        holder = holders.get(twin_key(rename.target))
        if holder is None or holder == rename.path:
            free.append(rename)
        else:
            waiting.setdefault(holder, []).append(rename)
    ordered: list[Rename] = []
    free.reverse()
    while free:
        rename = free.pop()
        ordered.append(rename)
        free += waiting.pop(rename.path, ())
    return ordered, sorted(rename.path for blocked in waiting.values() for rename in blocked)


def in_order_with_tracks(
    renames: Sequence[Rename], paths: Collection[str], tracks: Collection[str], staying: Sequence[str]
) -> tuple[list[Rename], list[str], set[str]]:
    """As `in_order`, and subtitles and audio files (`tracks`) of a video that stays stay beside it; those come third.

    `staying` are files that keep their names for other reasons.

    >>> in_order_with_tracks([Rename("a.mkv", "b.mkv"), Rename("a.sc.ass", "b.sc.ass")], ["a.mkv", "b.mkv"], {"a.sc.ass"}, [])
    ([], ['a.mkv'], {'a.sc.ass'})
    """
    beside: set[str] = set()
    while True:
        ordered, taken = in_order([one for one in renames if one.path not in beside], paths)
        stems = {stem for path in (*staying, *taken) if path not in tracks for stem in [path.rpartition(".")[0]]}
        left = {one.path for one in ordered if one.path in tracks and not stems.isdisjoint(_stems(one.path))}
        if not left:
            return ordered, taken, beside
        beside |= left


def _stems(path: str) -> list[str]:
    """What a video beside may be called without its extension."""
    folder, slash, name = path.rpartition("/")
    parts = name.split(".")
    return [f"{folder}{slash}{'.'.join(parts[:count])}" for count in range(1, len(parts))]
