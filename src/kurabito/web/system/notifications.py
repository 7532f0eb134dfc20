"""The destinations of notifications: how each is, what it hears of, and what it was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from fastapi import Request, Response

from kurabito.notifications.events import NotificationKind
from kurabito.notifications.model import (
    LANGUAGES,
    LONGEST_NAME,
    LONGEST_TOKEN,
    DestinationKind,
    DestinationSettings,
    StoredDestination,
    read_quiet,
)
from kurabito.notifications.service import DestinationTest, Notifications
from kurabito.site.routing import Router
from kurabito.web.forms import CHECKED, line_of, one_of
from kurabito.web.pages import Pages
from kurabito.web.service_routes import ServiceForm, service_routes

_PATH: Final = "/notifications"


@dataclass(frozen=True, slots=True)
class DestinationForm(ServiceForm):
    """A destination as it is now, or as it was filled in. Its address and token are taken and never shown."""

    FIELDS = ("kind", "name", "url", "token", "language", "quiet_from", "quiet_to")

    @classmethod
    def of(cls, destination: StoredDestination) -> DestinationForm:
        """The form as it looks for a destination."""
        settings = destination.settings
        quiet = settings.quiet
        return cls(
            {
                "name": settings.name,
                "language": settings.language,
                "quiet_from": f"{quiet.begin:%H:%M}" if quiet else "",
                "quiet_to": f"{quiet.end:%H:%M}" if quiet else "",
                "is_enabled": CHECKED if settings.is_enabled else "",
                **{f"hears_{kind}": CHECKED for kind in settings.kinds},
            }
        )

    @classmethod
    def empty(cls, language: str) -> DestinationForm:
        """A new one: it hears of everything, in the language of its keeper."""
        return cls({"language": language, **{f"hears_{kind}": CHECKED for kind in NotificationKind}})

    def changes(self) -> dict[str, Any]:
        """What its keeper decides; raises InvalidInput."""
        token, url = self.value("token").strip(), self.value("url").strip()
        return {
            "name": line_of("name", self.value("name"), LONGEST_NAME),
            "language": self.value("language") or LANGUAGES[0],
            "kinds": frozenset(kind for kind in NotificationKind if self.is_checked(f"hears_{kind}")),
            "quiet": read_quiet(self.value("quiet_from"), self.value("quiet_to")),
            "is_enabled": self.is_checked("is_enabled"),
            **({"url": url} if url else {}),
            **({"token": line_of("token", token, LONGEST_TOKEN)} if token else {}),
        }

    def settings(self) -> DestinationSettings:
        """A new destination; raises InvalidInput."""
        kind = one_of(DestinationKind, "kind", self.value("kind") or DestinationKind.APPRISE.value)
        return DestinationSettings(kind=kind, **{"url": "", **self.changes(), "is_enabled": True})


def router(pages: Pages, notifications: Notifications) -> Router:
    """The destinations, and what is decided about them."""

    async def show(
        request: Request,
        *,
        new: DestinationForm | None = None,
        forms: Mapping[int, DestinationForm] | None = None,
        tested: DestinationTest | None = None,
    ) -> Response:
        everything = await notifications.everything()
        filled = dict(forms or {})
        return pages.show(
            request,
            "notifications.html",
            status=max((form.status for form in (new, *filled.values()) if form is not None), default=200),
            destinations=everything,
            destination_kinds=list(DestinationKind),
            kinds=list(NotificationKind),
            message_languages=LANGUAGES,
            zone=datetime.now().astimezone().tzname(),
            histories={one.id: await notifications.history(one.id) for one in everything},
            forms={one.id: DestinationForm.of(one) for one in everything} | filled,
            new=new or DestinationForm.empty(pages.words(request).catalogue.tag),
            tested=tested,
        )

    return service_routes(pages, _PATH, DestinationForm, notifications, show)
