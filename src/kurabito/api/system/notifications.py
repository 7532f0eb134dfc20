"""Notifications: where they go, and what was sent."""

from __future__ import annotations

from datetime import datetime, time
from typing import Annotated, Any, Literal, Self

from fastapi import Path, Query
from pydantic import BaseModel, Field, SecretStr

from kurabito.api.bodies import ShortText, StrictBody
from kurabito.api.paging import PageAnswer
from kurabito.contact import ContactHealth
from kurabito.notifications.events import NotificationKind
from kurabito.notifications.model import (
    LONGEST_TOKEN,
    LONGEST_URL,
    Delivery,
    DeliveryStatus,
    DestinationKind,
    DestinationSettings,
    QuietHours,
    StoredDestination,
)
from kurabito.notifications.service import DestinationTest, Notifications
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

DestinationId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the destination's id")]
SecretUrl = Annotated[SecretStr, Field(min_length=1, max_length=LONGEST_URL)]
SecretToken = Annotated[SecretStr, Field(min_length=1, max_length=LONGEST_TOKEN)]
Kind = Annotated[DestinationKind, Field(strict=False)]
Kinds = Annotated[list[Annotated[NotificationKind, Field(strict=False)]], Field(max_length=len(NotificationKind))]
MessageLanguage = Literal["en", "zh-Hans", "zh-Hant", "ja"]
_URL = "an address of Apprise, or of the webhook; written, and never shown. Adding it allows its host, also in your own network"
_BEARER = "what a webhook is sent as its bearer token; written, and never shown"
_KINDS = "what it hears of; all kinds if nothing is said"


class QuietBody(StrictBody):
    """When it is not disturbed, by the clock of the server. The hours may go over midnight."""

    begin: Annotated[time, Field(strict=False)] = Field(examples=["22:00"])
    end: Annotated[time, Field(strict=False)] = Field(examples=["07:00"])

    def hours(self) -> QuietHours:
        return QuietHours(*(moment.replace(second=0, microsecond=0, tzinfo=None) for moment in (self.begin, self.end)))


class DestinationOrder(StrictBody):
    """A destination to add."""

    kind: Kind
    name: ShortText
    url: SecretUrl = Field(description=_URL, examples=["ntfy://my-topic"])
    token: SecretToken | None = Field(None, description=_BEARER)
    kinds: Kinds = Field(default_factory=lambda: list(NotificationKind), description=_KINDS)
    language: MessageLanguage = Field("en", description="the language of its messages")
    quiet: QuietBody | None = None
    is_enabled: bool = True


class DestinationChange(StrictBody):
    """What is to change; what is not named stays. Another address has to be given its token again."""

    # Made, not given: the documentation must not name values for what is left out.
    name: ShortText = Field(default_factory=str)
    url: SecretUrl = Field(default_factory=lambda: SecretStr(""), description=_URL)
    token: SecretToken | None = Field(None, description=_BEARER)
    kinds: Kinds = Field(default_factory=list, description=_KINDS)
    language: MessageLanguage = Field(default_factory=lambda: "en", description="the language of its messages")
    quiet: QuietBody | None = None
    is_enabled: bool = Field(default_factory=bool)


class DestinationAnswer(BaseModel):
    """A destination, without its address and token. Times are UTC."""

    id: int
    kind: DestinationKind
    name: str
    shown_url: str = Field(description="as much of its address as anyone may see")
    has_token: bool
    kinds: list[NotificationKind]
    language: str
    quiet: QuietBody | None
    is_enabled: bool
    health: ContactHealth = Field(description="how it is, in one word")
    failures: int = Field(description="in a row")
    error_code: str | None = Field(description="stable; what an interface translates")
    error_message: str | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, destination: StoredDestination) -> Self:
        settings, status = destination.settings, destination.status
        quiet = settings.quiet
        return cls(
            id=destination.id,
            kind=settings.kind,
            name=settings.name,
            shown_url=settings.shown_url,
            has_token=settings.token is not None,
            kinds=sorted(settings.kinds),
            language=settings.language,
            quiet=None if quiet is None else QuietBody(begin=quiet.begin, end=quiet.end),
            is_enabled=settings.is_enabled,
            health=destination.health,
            failures=status.failures,
            error_code=status.error_code,
            error_message=status.error_message,
            last_success_at=status.last_success_at,
            last_failure_at=status.last_failure_at,
            created_at=destination.created_at,
            updated_at=destination.updated_at,
        )


class DestinationTestAnswer(BaseModel):
    """What came of a test message."""

    is_good: bool
    error_code: str | None
    message: str | None = Field(description="what went wrong, in English")
    destination: DestinationAnswer

    @classmethod
    def of(cls, tested: DestinationTest) -> Self:
        error = tested.error
        return cls(
            is_good=error is None,
            error_code=None if error is None else error.cause,
            message=None if error is None else str(error),
            destination=DestinationAnswer.of(tested.destination),
        )


class DeliveryAnswer(BaseModel):
    """One message, and what became of it. Times are UTC."""

    id: int
    title: str
    body: str
    status: DeliveryStatus
    attempts: int
    error_code: str | None
    error_message: str | None
    created_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        return cls(**{name: getattr(delivery, name) for name in cls.model_fields})


def _settings(body: DestinationOrder | DestinationChange) -> dict[str, Any]:
    """The fields of `DestinationSettings` that are named."""
    names = body.model_fields_set if isinstance(body, DestinationChange) else set(type(body).model_fields)
    named = {name: getattr(body, name) for name in names}
    for name in ("url", "token"):
        if named.get(name) is not None:
            named[name] = named[name].get_secret_value()
    if "kinds" in named:
        named["kinds"] = frozenset(body.kinds)
    if "quiet" in named:
        named["quiet"] = None if body.quiet is None else body.quiet.hours()
    return named


def router(notifications: Notifications) -> Router:
    """The routes of notifications."""
    routes = Router(prefix="/api/v1/notifications", tags=["system"])

    @routes.get("", responses=documented())
    async def list_notification_destinations() -> PageAnswer[DestinationAnswer]:
        """Every destination of notifications."""
        return PageAnswer[DestinationAnswer].whole(
            DestinationAnswer.of(one) for one in await notifications.everything()
        )

    @routes.get("/{destination_id}/deliveries", responses=documented(404, 422))
    async def list_notification_deliveries(
        destination_id: DestinationId,
        limit: Annotated[int, Query(ge=1, le=200, description="at most so many")] = 50,
    ) -> PageAnswer[DeliveryAnswer]:
        """The messages of a destination, the newest first. So many are remembered as one page has."""
        found = await notifications.history(destination_id, limit)
        return PageAnswer[DeliveryAnswer].whole(map(DeliveryAnswer.of, found))

    @routes.post("/{destination_id}/test", responses=documented(404, 422))
    async def test_notification_destination(destination_id: DestinationId) -> DestinationTestAnswer:
        """Send a test message; what went wrong is in the answer."""
        return DestinationTestAnswer.of(await notifications.test(destination_id))

    @routes.post("", status_code=201, responses=documented(409, *WITH_BODY))
    async def add_notification_destination(order: DestinationOrder) -> DestinationAnswer:
        """Add a destination. It hears of what happens from now on."""
        return DestinationAnswer.of(await notifications.add(DestinationSettings(**_settings(order))))

    @routes.delete("/{destination_id}", status_code=204, responses=documented(404, 422))
    async def delete_notification_destination(destination_id: DestinationId) -> None:
        """Forget a destination and its history."""
        await notifications.remove(destination_id)

    @routes.patch("/{destination_id}", responses=documented(404, 409, *WITH_BODY))
    async def change_notification_destination(
        destination_id: DestinationId, change: DestinationChange
    ) -> DestinationAnswer:
        """Change a destination."""
        return DestinationAnswer.of(await notifications.change(destination_id, _settings(change)))

    return routes
