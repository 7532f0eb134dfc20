"""Looking into folders with all cores: upper folders are listed until there are enough of them to share, the rest is walked."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kurabito.dataplane.errors import RootUnavailable
from kurabito.dataplane.files.digest import Reader
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.files.walk import Entry, Identity, Keep, Walk, identity_of
from kurabito.dataplane.readers import process

Part = tuple[str, tuple[Identity, ...]]
"""A folder, as its path from where the search began (with a slash at the end), and the folders above it: if it is one of
those it was mounted there, and a walk would go in circles."""
Found = tuple[list[tuple[str, str, bytes]], list[Part], list[tuple[str, str]]]
"""Files by their folders (path, names and facts, as `CachedFile` has them); folders that were not looked into; and what could not be looked at, with the reason."""

EVERYTHING: Part = ("", ())


class FolderListing(NamedTuple):
    """A question: what files are in these folders?"""

    folder: str
    """Where the search began."""
    parts: list[Part]
    deep: bool
    """True to look into the folders in them as well."""
    passed_over: list[str]
    """Paths that are not looked at."""


def answer(question: tuple[Any, ...], reader: Reader) -> Any:
    """What the processes of a search do: they look into folders, and read files."""
    if len(question) == len(FolderListing._fields):
        return look(FolderListing(*question))
    return process.answer(question, reader)


def look(asked: FolderListing) -> Found:
    """Answer the question."""
    found: Found = ([], [], [])
    try:
        with Root(Path(asked.folder)) as root:
            for part in asked.parts:
                _look_into(root, part, asked, found)
    except RootUnavailable as problem:
        found[2].append(("", str(problem)))
    return found


def _look_into(root: Root, part: Part, asked: FolderListing, found: Found) -> None:
    path, above = part
    folders, parts, problems = found
    try:
        fd = root.open_folder(path.split("/")[:-1])
    except FileNotFoundError:
        return
    except OSError as problem:
        problems.append((path, reason(problem)))
        return
    here = identity_of(fd)
    if here in above:
        return
    inner: list[str] = []
    walk = Walk(fd, keep=_keep(asked, path, inner), closed=frozenset(above))
    folders += [(path + inside, names, facts) for inside, names, facts in by_folder(walk.batches())]
    parts += [(path + name, (*above, here)) for name in inner]
    problems += [(path + inside, reason(problem)) for inside, problem in walk.problems]


def _keep(asked: FolderListing, path: str, inner: list[str]) -> Keep | None:
    """What a walk looks at; folders that it leaves to others are added to `inner`."""
    passed_over = frozenset(asked.passed_over)

    def keep(prefix: str, names: list[str]) -> list[str]:
        if passed_over:
            names = [name for name in names if path + prefix + name not in passed_over]
        if not asked.deep:
            inner.extend([name for name in names if name.endswith("/")])
            names = [name for name in names if not name.endswith("/")]
        return names

    return None if asked.deep and not passed_over else keep


def by_folder(batches: Iterable[list[Entry]]) -> Iterator[tuple[str, str, bytes]]:
    """Files, which come in lists of neighbours, by the folders that they are in."""
    folders: dict[str, list[Entry]] = {}
    for batch in batches:
        first = batch[0][0]
        folder = first[: first.rfind("/") + 1]
        if folder in folders:
            folders[folder] += batch
        else:
            folders[folder] = batch
    for folder, entries in folders.items():
        paths, *facts = zip(*entries, strict=True)
        cut = len(folder)
        names = "/".join([path[cut:] for path in paths]) if cut else "/".join(paths)
        yield folder, names, b"".join([array("q", column).tobytes() for column in facts])


def reason(problem: OSError) -> str:
    """What the operating system says."""
    return problem.strerror or type(problem).__name__
