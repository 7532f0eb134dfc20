"""By which names a series is searched for."""

from __future__ import annotations

from typing import Final

from kurabito.catalog.series import Series
from kurabito.indexers.port import is_latin

_SHORTEST: Final = 2


def spellings(series: Series) -> list[str]:
    """Its title, then other names: first those in other letters, which find what the title does not."""
    names = dict.fromkeys([series.title, *(alias.name for alias in series.aliases if alias.season == series.season)])
    wanted = [name for name in names if len(name.strip()) >= _SHORTEST] or [series.title]
    title, *others = wanted
    return [title, *sorted(others, key=lambda name: is_latin(name) == is_latin(title))]
