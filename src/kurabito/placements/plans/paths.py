"""The path of a listed file, cut into what is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_CLUTTER: Final = re.compile(r"^\.|^__MACOSX$|^_+padding_file|^@eaDir$|^\.pad$|^#recycle$", re.I)
_DIGEST: Final = re.compile(r"(?=.*\d)(?=.*[A-Fa-f])(?:[0-9a-f]{10,}|[0-9A-F]{10,})")
_LONGEST: Final = 500
_DEEPEST: Final = 32
_ENDING: Final = re.compile(r"\.([A-Za-z0-9!]{1,10})$")


@dataclass(frozen=True)
class SplitPath:
    """Folders, stem and extension; the extension in lower case and without its dot."""

    path: str
    size: int
    folders: tuple[str, ...]
    stem: str
    extension: str

    @classmethod
    def of(cls, path: str, size: int = 0) -> SplitPath:
        *above, name = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")] or [""]
        # No system has longer names or deeper folders; a torrent may claim to.
        folders = tuple(folder[:_LONGEST] for folder in above[-_DEEPEST:])
        found = _ENDING.search(name[-_LONGEST:])
        if found is None or found[0] == name:
            return cls(path, size, folders, name[:_LONGEST], "")
        return cls(path, size, folders, name[: -len(found[0])][:_LONGEST], found[1].lower())

    @property
    def name(self) -> str:
        return f"{self.stem}.{self.extension}" if self.extension else self.stem

    @cached_property
    def is_clutter(self) -> bool:
        """What systems and torrents leave lying about."""
        return any(_CLUTTER.search(part) for part in (*self.folders, self.name))


def is_digest(name: str) -> bool:
    """Whether a name is nothing but the beginning of a digest, which no person gave.

    >>> is_digest("3f2a9c01d47e"), is_digest("facade"), is_digest("20240704")
    (True, False, False)
    """
    return _DIGEST.fullmatch(name) is not None
