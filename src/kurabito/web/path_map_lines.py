"""Path mappings as a form has them: one per line, `/srv/downloads => /downloads`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kurabito.errors import InvalidInput
from kurabito.modules.path_maps import PathMap
from kurabito.reasons import InputReason, refused

_ARROW: Final = "=>"


def lines_of(maps: Iterable[PathMap]) -> str:
    """The maps, to be shown."""
    return "\n".join(f"{one.core} {_ARROW} {one.downloader}" for one in maps)


def read_lines(text: str) -> list[PathMap]:
    """The maps that were typed; raises InvalidInput."""
    return [_map(line) for line in text.splitlines() if line.strip()]


def _map(line: str) -> PathMap:
    core, arrow, other = (part.strip() for part in line.partition(_ARROW))
    if not arrow:
        problem = f"must be lines like /srv/downloads {_ARROW} /downloads, got {line[:100]!r}"
        raise InvalidInput("path_maps", problem, refused(InputReason.PATH_MAP_LINE, line=line[:100]))
    return PathMap(core, other)
