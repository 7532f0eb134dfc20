"""The path of a listed file, cut into what is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_CLUTTER: Final = re.compile(r"^\.|^__MACOSX$|^_+padding_file|^@eaDir$|^\.pad$|^#recycle$", re.I)
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
        *folders, name = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")] or [""]
        found = _ENDING.search(name)
        if found is None or found.start() == 0:
            return cls(path, size, tuple(folders), name, "")
        return cls(path, size, tuple(folders), name[: found.start()], found[1].lower())

    @property
    def name(self) -> str:
        return f"{self.stem}.{self.extension}" if self.extension else self.stem

    @cached_property
    def is_clutter(self) -> bool:
        """What systems and torrents leave lying about."""
        return any(_CLUTTER.search(part) for part in (*self.folders, self.name))
