"""An indexer as its keeper sets it, and how asking it goes. Pure values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from kurabito.contact import ContactHealth, ContactStatus
from kurabito.errors import InvalidInput
from kurabito.indexers.torznab import DEFAULT_CATEGORIES
from kurabito.reasons import InputReason, refused

PRIORITIES: Final = (-1000, 1000)
MOST_PER_HOUR: Final = 3_600
MOST_SEEDERS: Final = 100_000
MOST_CATEGORIES: Final = 50
MOST_CATEGORY: Final = 1_000_000
"""Above 100,000 are those that an indexer has of its own."""
MOST_RATIO: Final = 100.0
MOST_SEED_MINUTES: Final = 366 * 24 * 60
DEFAULT_PER_HOUR: Final = 60


class IndexerKind(StrEnum):
    """What an indexer is."""

    TORZNAB = "torznab"
    SITE = "site"
    """A site whose search is a feed."""


class IndexerHealth(StrEnum):
    """How an indexer is, in one word."""

    OFF = "off"
    NEW = "new"
    """It was not asked yet."""
    HEALTHY = "healthy"
    LIMITED = "limited"
    """It was asked too often, and rests."""
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexerSettings:
    """How an indexer is asked: what its keeper may change."""

    kind: IndexerKind
    name: str
    site: str | None = None
    """The key of the site's description."""
    url: str | None = None
    """Of Torznab the address; of a site a mirror to ask instead."""
    api_key: str | None = field(default=None, repr=False)
    categories: tuple[int, ...] = DEFAULT_CATEGORIES
    min_seeders: int = 0
    """Releases with fewer are shown and not taken; one that does not say passes."""
    priority: int = 0
    """The larger is named first where several have a release."""
    per_hour: int = DEFAULT_PER_HOUR
    """Requests, also those for more pages and for the link of a release."""
    is_enabled: bool = True
    allows_private: bool = False
    """Its host may be inside the keeper's own network."""
    proxy: str | None = field(default=None, repr=False)
    """Asked through this one, and not through the one of the settings; a password in it is a secret."""
    seed_ratio: float | None = None
    """Its releases are seeded until so much was given back; None is as the downloader does it."""
    seed_minutes: int | None = None
    """Or for so long, whichever is first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexerStatus(ContactStatus):
    """How asking an indexer went."""

    rests_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredIndexer:
    """An indexer that can be searched."""

    id: int
    settings: IndexerSettings
    status: IndexerStatus
    created_at: datetime
    updated_at: datetime

    @property
    def health(self) -> IndexerHealth:
        found = self.status.health(is_enabled=self.settings.is_enabled)
        is_limited = found is ContactHealth.FAILING and self.status.error_code == "indexer_limited"
        return IndexerHealth.LIMITED if is_limited else IndexerHealth(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuery:
    """A query that an indexer was asked."""

    text: str
    asked_at: datetime
    results: int | None
    """None when it failed, or has not answered yet."""
    error_code: str | None


def check(settings: IndexerSettings) -> None:
    """Raises InvalidInput, naming the field."""
    if not settings.name.strip() or len(settings.name) > 100 or not settings.name.isprintable():
        problem = "must be a text of 1 to 100 characters that can be seen"
        raise InvalidInput("name", problem, refused(InputReason.TEXT, most=100))
    _within("priority", settings.priority, *PRIORITIES)
    _within("per_hour", settings.per_hour, 1, MOST_PER_HOUR)
    _within("min_seeders", settings.min_seeders, 0, MOST_SEEDERS)
    if settings.seed_ratio is not None:
        _within("seed_ratio", settings.seed_ratio, 0, MOST_RATIO)
    if settings.seed_minutes is not None:
        _within("seed_minutes", settings.seed_minutes, 0, MOST_SEED_MINUTES)
    if len(settings.categories) > MOST_CATEGORIES:
        problem = f"must be at most {MOST_CATEGORIES} categories"
        raise InvalidInput("categories", problem, refused(InputReason.TOO_MANY, most=MOST_CATEGORIES))


def _within(name: str, number: float, least: float, most: float) -> None:
    if not least <= number <= most:
        problem = f"must be a number from {least} to {most}"
        raise InvalidInput(name, problem, refused(InputReason.NUMBER, least=least, most=most))
