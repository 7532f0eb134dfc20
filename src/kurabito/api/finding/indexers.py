"""Indexers: what can be searched."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from kurabito.api.bodies import WHOLE, ShortText, StrictBody
from kurabito.api.following.previews import ALLOWS_PRIVATE
from kurabito.api.paging import PageAnswer
from kurabito.indexers.addresses import LONGEST_URL, without_login
from kurabito.indexers.definitions import SiteDefinition
from kurabito.indexers.model import (
    DEFAULT_PER_HOUR,
    MOST_CATEGORIES,
    MOST_PER_HOUR,
    MOST_RATIO,
    MOST_SEED_MINUTES,
    MOST_SEEDERS,
    PRIORITIES,
    IndexerHealth,
    IndexerKind,
    IndexerSettings,
    StoredIndexer,
)
from kurabito.indexers.service import IndexerOutcome, Indexers
from kurabito.indexers.torznab import DEFAULT_CATEGORIES
from kurabito.logs import mask_text
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

IndexerId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the indexer's id")]
Url = Annotated[str, Field(min_length=1, max_length=LONGEST_URL, pattern=r"^https?://[^\x00-\x20]+$")]
ApiKey = Annotated[SecretStr, Field(min_length=1, max_length=500)]
Categories = Annotated[
    list[Annotated[int, Field(ge=0, le=1_000_000), WHOLE]],
    Field(max_length=MOST_CATEGORIES, description="the categories of Torznab to search; none searches all"),
]
Priority = Annotated[int, Field(ge=PRIORITIES[0], le=PRIORITIES[1], description="the larger is named first"), WHOLE]
PerHour = Annotated[int, Field(ge=1, le=MOST_PER_HOUR, description="the most requests in an hour"), WHOLE]
Seeders = Annotated[int, Field(ge=0, le=MOST_SEEDERS, description="releases with fewer are shown and not taken"), WHOLE]
Proxy = Annotated[SecretStr, Field(min_length=1, max_length=LONGEST_URL)]
SeedRatio = Annotated[float, Field(ge=0, le=MOST_RATIO)]
SeedMinutes = Annotated[int, Field(ge=0, le=MOST_SEED_MINUTES), WHOLE]
_PROXY = "the proxy that it is asked through; shown without user and password"
_RATIO = "its releases are seeded until so much was given back; null is as the downloader does it"
_MINUTES = "or for so long, whichever is first"
_URL = "of `torznab` as Prowlarr or Jackett copy it; of a `site` a mirror to ask instead"
_KEY = "written, and never shown; a key in the URL is taken as well"


def _secret(text: SecretStr | None) -> str | None:
    return None if text is None else text.get_secret_value()


class IndexerOrder(StrictBody):
    """An indexer to add."""

    kind: Annotated[IndexerKind, Field(strict=False)] = IndexerKind.TORZNAB
    name: ShortText
    site: ShortText | None = Field(None, description="of a `site` its key in `GET /indexers/sites`")
    url: Url | None = Field(None, description=_URL)
    api_key: ApiKey | None = Field(None, description=_KEY)
    categories: Categories = Field(default_factory=lambda: list(DEFAULT_CATEGORIES))
    min_seeders: Seeders = 0
    priority: Priority = 0
    per_hour: PerHour = DEFAULT_PER_HOUR
    is_enabled: bool = True
    allows_private: bool = Field(False, description=ALLOWS_PRIVATE)
    proxy: Proxy | None = Field(None, description=_PROXY)
    seed_ratio: SeedRatio | None = Field(None, description=_RATIO)
    seed_minutes: SeedMinutes | None = Field(None, description=_MINUTES)

    def settings(self) -> IndexerSettings:
        values = self.model_dump(exclude={"api_key", "proxy", "categories"})
        key, proxy = _secret(self.api_key), _secret(self.proxy)
        return IndexerSettings(**values, api_key=key, proxy=proxy, categories=tuple(self.categories))


class IndexerChange(StrictBody):
    """What is to change; what is not named stays. Another host has to be given its key again."""

    # Made, not given: the documentation must not name values for what is left out.
    name: ShortText = Field(default_factory=str)
    url: Url = Field(default_factory=str, description=_URL)
    api_key: ApiKey | None = Field(None, description=_KEY)
    categories: Categories = Field(default_factory=list)
    min_seeders: Seeders = Field(default_factory=int)
    priority: Priority = Field(default_factory=int)
    per_hour: PerHour = Field(default_factory=int)
    is_enabled: bool = Field(default_factory=bool)
    allows_private: bool = Field(default_factory=bool, description=ALLOWS_PRIVATE)
    proxy: Proxy | None = Field(None, description=_PROXY)
    seed_ratio: SeedRatio | None = Field(None, description=_RATIO)
    seed_minutes: SeedMinutes | None = Field(None, description=_MINUTES)

    def changes(self) -> dict[str, Any]:
        """The fields of `IndexerSettings` that are named."""
        named = self.model_dump(exclude_unset=True)
        named |= {name: _secret(getattr(self, name)) for name in ("api_key", "proxy") if name in named}
        if "categories" in named:
            named["categories"] = tuple(self.categories)
        return named


class IndexerAnswer(BaseModel):
    """An indexer, without its key. Times are UTC."""

    id: int
    kind: IndexerKind
    name: str
    site: str | None
    url: str | None
    has_key: bool
    categories: list[int]
    min_seeders: int
    priority: int
    per_hour: int
    is_enabled: bool
    allows_private: bool
    proxy: str | None = Field(description="without user and password")
    seed_ratio: float | None
    seed_minutes: int | None
    health: IndexerHealth = Field(description="how it is, in one word")
    failures: int = Field(description="in a row")
    error_code: str | None = Field(description="stable; what an interface translates")
    error_message: str | None
    rests_until: datetime | None = Field(description="it failed, and is not asked before this")
    last_success_at: datetime | None
    last_failure_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, indexer: StoredIndexer) -> Self:
        settings, status = indexer.settings, indexer.status
        own = {name: getattr(settings, name) for name in cls.model_fields if hasattr(settings, name)}
        proxy = None if settings.proxy is None else without_login(settings.proxy)
        how = {field.name: getattr(status, field.name) for field in fields(status)}
        return cls(
            **(own | how | {"categories": list(settings.categories), "proxy": proxy}),
            id=indexer.id,
            has_key=settings.api_key is not None,
            health=indexer.health,
            created_at=indexer.created_at,
            updated_at=indexer.updated_at,
        )


class AskedQueryAnswer(BaseModel):
    """A query that an indexer was asked. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    text: str
    asked_at: datetime
    results: int | None = Field(description="null when it failed, or has not answered yet")
    error_code: str | None


class SiteAnswer(BaseModel):
    """A site whose search is a feed, and that can be added as an indexer."""

    key: str
    name: str
    url: str = Field(description="with `{query}` where the text goes")
    is_tested: bool = Field(description="false when no answer of the site was seen when it was described")
    is_own: bool = Field(description="true for a file in the folder `sites` of the state folder")
    per_hour: int

    @classmethod
    def of(cls, site: SiteDefinition) -> Self:
        # A site that its keeper described may have a passkey in its address.
        return cls(**{name: getattr(site, name) for name in cls.model_fields} | {"url": mask_text(site.url)})


class IndexerTestAnswer(BaseModel):
    """What came of asking an indexer."""

    is_good: bool
    results: int
    error_code: str | None
    message: str | None = Field(description="what went wrong, in English")
    indexer: IndexerAnswer

    @classmethod
    def of(cls, outcome: IndexerOutcome) -> Self:
        error = outcome.error
        return cls(
            is_good=error is None,
            results=len(outcome.items),
            error_code=None if error is None else error.code,
            message=None if error is None else str(error),
            indexer=IndexerAnswer.of(outcome.indexer),
        )


def router(indexers: Indexers) -> Router:
    """The routes of the indexers."""
    routes = Router(prefix="/api/v1/indexers", tags=["finding"])

    @routes.get("", responses=documented())
    async def list_indexers() -> PageAnswer[IndexerAnswer]:
        """Every indexer, the one that is named first at the front."""
        return PageAnswer[IndexerAnswer].whole(IndexerAnswer.of(one) for one in await indexers.everything())

    @routes.get("/sites", responses=documented())
    async def list_sites() -> PageAnswer[SiteAnswer]:
        """The sites that can be added: ours, and those that files of your own describe."""
        sites, _ = await indexers.sites()
        return PageAnswer[SiteAnswer].whole(SiteAnswer.of(site) for site in sites.values())

    @routes.post("", status_code=201, responses=documented(409, *WITH_BODY))
    async def add_indexer(order: IndexerOrder) -> IndexerAnswer:
        """Add an indexer. It is asked when something is searched for, and not before."""
        return IndexerAnswer.of(await indexers.add(order.settings()))

    @routes.patch("/{indexer_id}", responses=documented(404, 409, *WITH_BODY))
    async def change_indexer(indexer_id: IndexerId, change: IndexerChange) -> IndexerAnswer:
        """Change an indexer."""
        return IndexerAnswer.of(await indexers.change(indexer_id, change.changes()))

    @routes.delete("/{indexer_id}", status_code=204, responses=documented(404, 422))
    async def delete_indexer(indexer_id: IndexerId) -> None:
        """Forget an indexer. What it found stays."""
        await indexers.remove(indexer_id)

    @routes.post("/{indexer_id}/test", responses=documented(404, 422))
    async def test_indexer(indexer_id: IndexerId) -> IndexerTestAnswer:
        """Ask an indexer for anything, also one that rests; what went wrong is in the answer."""
        return IndexerTestAnswer.of(await indexers.test(indexer_id))

    @routes.get("/{indexer_id}/queries", responses=documented(404, 422))
    async def list_queries(indexer_id: IndexerId) -> PageAnswer[AskedQueryAnswer]:
        """The last queries that an indexer was asked, the newest first."""
        found = await indexers.queries(indexer_id)
        return PageAnswer[AskedQueryAnswer].whole(AskedQueryAnswer.model_validate(one) for one in found)

    return routes
