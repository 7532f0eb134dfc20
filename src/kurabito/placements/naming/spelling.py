"""How a library spells the names that it has already, where letters differ in case or composition only."""

from __future__ import annotations

from collections.abc import Iterable

from kurabito.placements.naming.safe_names import twin_key


class Spelling:
    """The spelling of paths, and of the folders above them.

    >>> spelling = Spelling(["KOJI/season 01/KOJI S01E01.mkv"])
    >>> spelling.of("Koji/Season 01/Koji S01E02.mkv"), spelling.of_folder("Koji/Season 01/Koji S01E01.mkv")
    ('KOJI/season 01/Koji S01E02.mkv', 'KOJI/season 01/Koji S01E01.mkv')
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._known: set[str] = set()
        for path in paths:
            above = path
            # The folders above one that was seen before were seen with it.
            while above and above not in self._known:
                self._known.add(above)
                above = above.rpartition("/")[0]
        self._by_key: dict[str, str] = {}
        for path in sorted(self._known):
            self._by_key.setdefault(twin_key(path), path)
        self._folders: dict[str, str] = {}

    def of(self, path: str) -> str:
        """The path with each of its names as the library spells it; a name that it does not have stays."""
        found = ""
        for part in path.split("/"):
            longer = f"{found}/{part}" if found else part
            found = longer if longer in self._known else self._by_key.get(twin_key(longer), longer)
        return found

    def of_folder(self, path: str) -> str:
        """The same of the folders above a file; its own name stays."""
        folder, slash, name = path.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = self.of(folder) if folder else ""
        return f"{self._folders[folder]}{slash}{name}"
