"""The file of bangumi-data: what it says of each entry, in our words."""

from __future__ import annotations

import gzip
import json
import re
import tarfile
import zlib
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from io import BytesIO
from typing import Any, Final

from kurabito.errors import InvalidInput
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources.answers import MALFORMED
from kurabito.titles.text import storable

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
_KINDS: Final = frozenset(RecordKind)
_GZIP: Final = b"\x1f\x8b"
_IN_PACKAGE: Final = "dist/data.json"
LARGEST_INDEX: Final = 64 * 1024 * 1024
_LONGEST_NAME: Final = 300


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
    last_date: date | None = None
    """The day of its last episode."""

    @property
    def began_in(self) -> int | None:
        """The year in which it began."""
        return self.air_date.year if self.air_date else self.year

    @property
    def titles(self) -> tuple[str, ...]:
        """Every name of it."""
        return (self.title, *self.other_titles)

    def as_stored(self) -> dict[str, Any]:
        """As the database keeps what the file says: only what is known."""
        stored: dict[str, Any] = {
            "title": self.title,
            "kind": self.kind,
            "language": self.language,
            "ids": self.ids.as_stored(),
            "air_date": self.air_date and self.air_date.isoformat(),
            "title_chinese": self.title_chinese,
            "title_english": self.title_english,
            "other_titles": self.other_titles,
            "year": self.year,
            "last_date": self.last_date and self.last_date.isoformat(),
        }
        return {name: value for name, value in stored.items() if value}

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> OfflineEntry:
        """What `as_stored` wrote."""
        day, last = stored.get("air_date"), stored.get("last_date")
        return cls(
            title=stored["title"],
            kind=RecordKind(stored["kind"]),
            language=stored.get("language", ""),
            ids=Ids.from_stored(stored.get("ids", {})),
            air_date=date.fromisoformat(day) if day else None,
            title_chinese=stored.get("title_chinese"),
            title_english=stored.get("title_english"),
            other_titles=tuple(stored.get("other_titles", ())),
            year=stored.get("year"),
            last_date=date.fromisoformat(last) if last else None,
        )


@dataclass(frozen=True, slots=True)
class IndexFile:
    """What was read of a file, and what of it could not be."""

    entries: tuple[OfflineEntry, ...]
    unknown_kinds: int = 0
    """Rows of a type that is newer than this program."""
    bad_rows: int = 0


def read_index(content: bytes) -> IndexFile:
    """What the file says; raises InvalidInput when it is another file. A row that makes no sense costs only itself."""
    entries, unknown, bad = [], 0, 0
    for item in _items(content):
        try:
            if item["type"] not in _KINDS:
                unknown += 1
                continue
            entries.append(_entry(item))
        except MALFORMED:
            bad += 1
    if bad and not entries:
        raise _not_the_file("none of its rows is an entry")
    return IndexFile(tuple(entries), unknown, bad)


def _items(content: bytes) -> list[Any]:
    try:
        items = json.loads(_unpacked(content) if _is_package(content) else content)["items"]
    except (
        ValueError,
        LookupError,
        TypeError,
        RecursionError,
        OSError,
        EOFError,
        zlib.error,
        tarfile.TarError,
    ) as error:
        raise _not_the_file(repr(error)) from None
    if not isinstance(items, list):
        raise _not_the_file("its items are no list")
    return items


def _is_package(content: bytes) -> bool:
    return content.startswith(_GZIP) or content[257:262] == b"ustar"


def _unpacked(package: bytes) -> bytes:
    """The data.json of the project's package, which is a tar file."""
    if package.startswith(_GZIP):
        with gzip.GzipFile(fileobj=BytesIO(package)) as packed:
            package = packed.read(LARGEST_INDEX + 1)
    if len(package) > LARGEST_INDEX:
        raise ValueError(f"it unpacks to more than {LARGEST_INDEX >> 20} MB")
    with tarfile.open(fileobj=BytesIO(package), mode="r:") as files:
        for member in files:
            if member.isfile() and member.name.endswith(_IN_PACKAGE):
                found = files.extractfile(member)
                assert found is not None
                return found.read()
    raise LookupError(_IN_PACKAGE)


def _entry(item: dict[str, Any]) -> OfflineEntry:
    translations = {
        language: list(filter(None, map(_clean, _list(names))))
        for language, names in item.get("titleTranslate", {}).items()
    }
    chinese = [*translations.get("zh-Hans", ()), *translations.get("zh-Hant", ())]
    title = _clean(item["title"])
    if not title:
        raise ValueError("an entry without a title")
    return OfflineEntry(
        title=title,
        kind=RecordKind(item["type"]),
        language=_clean(item.get("lang", "ja")),
        ids=_ids(_list(item.get("sites", []))),
        air_date=_day(item.get("begin")),
        title_chinese=next(iter(chinese), None),
        title_english=next(iter(translations.get("en", ())), None),
        other_titles=tuple(name for names in translations.values() for name in names),
        last_date=_day(item.get("end")),
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


def _day(moment: Any) -> date | None:
    """The day in Japan of a moment, which the file has in UTC."""
    return datetime.fromisoformat(moment).astimezone(_JAPAN).date() if moment else None


def _list(value: Any) -> list[Any]:
    """A list. The letters of a text would be names otherwise."""
    if not isinstance(value, list):
        raise TypeError("something else stands where a list belongs")
    return value


def _clean(text: str) -> str:
    if len(text) > _LONGEST_NAME:
        raise ValueError("a name that is longer than names are")
    return storable(text).strip()


def _not_the_file(why: str) -> InvalidInput:
    return InvalidInput("file", f"is not the data.json of bangumi-data: {why}; get it from that project")
