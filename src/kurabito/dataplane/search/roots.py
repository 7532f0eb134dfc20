"""The folders and files that a search without a server is given; each file is looked at once, however they overlap."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from stat import S_ISREG

from kurabito.dataplane.files.paths import Root, as_name, as_text
from kurabito.dataplane.files.walk import Entry, signed
from kurabito.dataplane.search.cache import CachedFile, Digests
from kurabito.dataplane.search.walk import Found, by_folder, reason
from kurabito.errors import InvalidInput


class SearchRoot:
    """A folder to look into, or some files of it."""

    def __init__(self, folder: Path, rank: int, *, elsewhere: frozenset[str] = frozenset()) -> None:
        self.folder = str(folder)
        self._prefix = self.folder.rstrip("/") + "/"
        self.real = real_folder(folder)
        """Where it really is, so that what is known of it is found again whichever path led to it."""
        self.named: dict[str, int] = {}
        """The files of it that were named, each with its rank; empty when the whole folder is meant."""
        self.known: dict[str, tuple[CachedFile, Digests]] = {}
        """What is known of the files in it, by folders."""
        self.elsewhere = sorted(elsewhere)
        """What is in it and was given before: it is looked at there."""
        self._rank = rank

    @property
    def whole(self) -> bool:
        """True when everything below the folder is looked at from here."""
        return not self.named and not self.elsewhere

    def rank(self, relative_path: str) -> int:
        """Which path of the command line led to a file: what was given first is preferred when one copy is kept."""
        return self.named.get(relative_path, self._rank)

    def shown(self, relative_path: str) -> str:
        """A path below it as it was asked for, and as the operating system takes it."""
        return self._prefix + as_name(relative_path)

    def check(self) -> None:
        """Raise RootUnavailable if the folder cannot be opened."""
        with Root(Path(self.folder)):
            pass

    def look_at_named(self) -> Found:
        """The files of it that were named; raises RootUnavailable."""
        entries: list[Entry] = []
        problems: list[tuple[str, str]] = []
        with Root(Path(self.folder)) as root:
            for name in self.named:
                try:
                    seen = os.stat(as_name(name), dir_fd=root.fd, follow_symlinks=False)
                except OSError as problem:
                    problems.append((name, reason(problem)))
                    continue
                if S_ISREG(seen.st_mode):
                    entries.append((name, seen.st_size, seen.st_mtime_ns, signed(seen.st_ino), signed(seen.st_dev)))
        return list(by_folder([entries] if entries else [])), [], problems


def roots_of(paths: Iterable[Path]) -> list[SearchRoot]:
    """The roots that the paths of a command line name; raises InvalidInput for one that is not there."""
    folders: dict[str, SearchRoot] = {}
    files: dict[str, SearchRoot] = {}
    roots: list[SearchRoot] = []
    for rank, given in enumerate(paths):
        path = given.absolute()
        if path.is_dir():
            target = real_folder(path)
            if not _covered(target, folders):
                elsewhere = [inner.removeprefix(target) for inner in (*folders, *files) if inner.startswith(target)]
                folders[target] = SearchRoot(path, rank, elsewhere=frozenset(elsewhere))
                roots.append(folders[target])
        elif path.is_file():
            # A link that is named is meant as what it leads to.
            path = path.resolve() if path.is_symlink() else path
            target = real_folder(path.parent) + as_text(path.name)
            if target not in files and not _covered(target, folders):
                files[target] = _named_in(roots, path, rank)
        else:
            raise InvalidInput(
                "path", f"{given} is neither a folder nor a file; is it spelled right, and the disk there?"
            )
    return roots


def real_folder(folder: Path) -> str:
    """Where a folder really is, as text with a slash at its end."""
    return as_text(str(folder.resolve())).rstrip("/") + "/"


def _covered(target: str, folders: Mapping[str, SearchRoot]) -> bool:
    return any(target.startswith(folder) for folder in folders)


def _named_in(roots: list[SearchRoot], path: Path, rank: int) -> SearchRoot:
    """The root that holds the named files of a folder."""
    for root in roots:
        if root.named and root.folder == str(path.parent):
            break
    else:
        root = SearchRoot(path.parent, rank)
        roots.append(root)
    root.named[as_text(path.name)] = rank
    return root
