"""The file of bangumi-data: what it says of each entry, in our words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import Any, Final

from kurabito.errors import InvalidInput
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind

# Days are those of the place where it was shown.
_JAPAN: Final = timezone(timedelta(hours=9))
_TMDB: Final = re.compile(r"(tv|movie)/(\d{1,18})(?:-[^/]*)?(?:/season/(\d{1,4}))?")
_SITES: Final = {
    "bangumi": "bgm_id",
    "anidb": "anidb_id",
    "aniList": "anilist_id",
    "mal": "mal_id",
    "mikan": "mikan_id",
}
_NUMBER: Final = re.compile(r"\d{1,18}")


@dataclass(frozen=True, slots=True)
class OfflineEntry:
    """A show or a film with its ids, known offline."""

    title: str
    """In its own language."""
    kind: RecordKind
    language: str
    ids: Ids
    air_date: date | None = None
    title_chinese: str | None = None
    title_english: str | None = None
    other_titles: tuple[str, ...] = ()
    year: int | None = None
    """For an entry whose first day is not known."""

    @property
    def began_in(self) -> int | None:
        """The year in which it began."""
        return self.air_date.year if self.air_date else self.year

    @property
    def titles(self) -> tuple[str, ...]:
        """Every name of it."""
        return (self.title, *self.other_titles)


def read_entries(content: bytes) -> Iterator[OfflineEntry]:
    """The entries of the file; raises InvalidInput when it is something else."""
    try:
        items = json.loads(content)["items"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise _not_the_file(error) from None
    for item in items:
        try:
            yield _entry(item)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise _not_the_file(error) from None


def _entry(item: dict[str, Any]) -> OfflineEntry:
    translations = {
        language: [_clean(name) for name in names] for language, names in item.get("titleTranslate", {}).items()
    }
    chinese = [*translations.get("zh-Hans", ()), *translations.get("zh-Hant", ())]
    return OfflineEntry(
        title=_clean(item["title"]),
        kind=RecordKind(item["type"]),
        language=_clean(item.get("lang", "ja")),
        ids=_ids(item.get("sites", ())),
        air_date=_day(item.get("begin")),
        title_chinese=next(iter(chinese), None),
        title_english=next(iter(translations.get("en", ())), None),
        other_titles=tuple(name for names in translations.values() for name in names),
    )


def _ids(sites: list[dict[str, Any]]) -> Ids:
    ids: dict[str, Any] = {}
    for site in sites:
        name, value = site.get("site"), str(site.get("id", ""))
        if name == "tmdb" and (found := _TMDB.match(value)):
            ids["tmdb_kind"], ids["tmdb_id"] = TmdbKind(found[1]), int(found[2])
            ids["tmdb_season"] = int(found[3]) if found[3] else None
        elif name in _SITES and _NUMBER.fullmatch(value):
            ids[_SITES[name]] = int(value)
    return Ids(**ids)


def _day(begin: Any) -> date | None:
    """The day in Japan on which it began; the file has the moment, in UTC."""
    return datetime.fromisoformat(begin).astimezone(_JAPAN).date() if begin else None


def _clean(text: str) -> str:
    # PostgreSQL keeps no NUL in a text.
    return text.replace("\x00", "").strip()


def _not_the_file(error: Exception) -> InvalidInput:
    return InvalidInput("file", f"is not the data.json of bangumi-data: {error!r}; get it from that project")
