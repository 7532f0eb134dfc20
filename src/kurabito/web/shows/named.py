"""A series that is called by its id or by its name, as the fields of forms take it."""

from __future__ import annotations

from typing import Final

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.series import Series
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused
from kurabito.titles import fold_title
from kurabito.web.forms import id_of

_ALIKE: Final = 200


async def series_named(catalog: Catalog, field: str, text: str) -> Series:
    """The series of an id, or the only one that has a name; raises InvalidInput."""
    if text.strip().isdecimal():
        return await catalog.get(id_of(text.strip()))
    folded = fold_title(text)
    alike = (await catalog.series(name=text, limit=_ALIKE)).items if folded else ()
    found = [one for one in alike if folded in {fold_title(name) for name in _names(one)}] or list(alike)
    if len(found) != 1:
        problem = f"{len(found)} series are called {text!r}; choose one from the list"
        raise InvalidInput(field, problem, refused(InputReason.SERIES_UNCLEAR, name=text))
    return found[0]


def _names(series: Series) -> list[str]:
    return [series.title, *(alias.name for alias in series.aliases)]
