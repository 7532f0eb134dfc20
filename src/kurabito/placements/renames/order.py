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
