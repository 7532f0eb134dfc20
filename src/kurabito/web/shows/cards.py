"""A show or a film as a card: its poster, what it is called in the reader's language, and when it began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Self

from kurabito.metadata.calendar import SeasonStart
from kurabito.metadata.records import Details, Metadata, RecordKind

# What readers of a language know a show by, the best first. A name in another language is better than none.
_READ_FIRST: Final[Mapping[str, tuple[str, str, str]]] = {
    "en": ("english", "japanese", "chinese"),
    "ja": ("japanese", "english", "chinese"),
    "zh-Hans": ("chinese", "japanese", "english"),
    "zh-Hant": ("chinese", "japanese", "english"),
}


@dataclass(frozen=True, slots=True)
class CardNames:
    """What a show is called; one of them at least is known."""

    japanese: str | None
    chinese: str | None
    english: str | None

    @classmethod
    def of(cls, details: Details) -> Self:
        return cls(details.title_japanese, details.title_chinese, details.title_english)

    def read_in(self, lang: str) -> tuple[str, ...]:
        """The names, the one first that a reader of this language knows best."""
        known = (getattr(self, name) for name in _READ_FIRST[lang])
        return tuple(dict.fromkeys(name for name in known if name))


@dataclass(frozen=True, slots=True)
class Card:
    """One show or film of the calendar."""

    names: CardNames
    kind: RecordKind
    air_date: date | None
    poster_url: str | None
    metadata_id: int | None
    """Its record, where there is one."""
    bgm_id: int | None

    @classmethod
    def of_record(cls, record: Metadata) -> Self:
        known = record.details
        return cls(CardNames.of(known), known.kind, known.air_date, known.poster_url, record.id, known.bgm_id)

    @classmethod
    def of_entry(cls, begun: SeasonStart) -> Self:
        entry = begun.entry
        names = CardNames(entry.title, entry.title_chinese, entry.title_english)
        return cls(names, entry.kind, entry.air_date, begun.poster_url, begun.metadata_id, entry.ids.bgm_id)
