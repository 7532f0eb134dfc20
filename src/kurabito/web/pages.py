"""From a template and values to an answer. Templates are compiled once, and everything in them is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request

from kurabito.access import Principal
from kurabito.clock import Clock, to_datetime
from kurabito.library.scans.queue import left_out_by
from kurabito.runtime import TaskState
from kurabito.runtime.reasons import waits_for
from kurabito.thumbnails.keys import media_type_of
from kurabito.web.addresses import Addresses
from kurabito.web.assets import Assets
from kurabito.web.languages import catalogues, with_code
from kurabito.web.navigation import DRAWINGS, GROUPS
from kurabito.web.preferences import THEMES, language_of, theme_of
from kurabito.web.system.payloads import shown_payload, shown_result
from kurabito.web.tone import tone_of
from kurabito.web.words import Words

_FOLDER: Final = Path(__file__).parent / "templates"


@cache
def _templates() -> Environment:
    """The templates, with what is the same on every page of every site."""
    templates = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters["with_code"] = with_code
    templates.globals.update(
        drawings=DRAWINGS,
        languages=catalogues(),
        media_type_of=media_type_of,
        navigation_groups=GROUPS,
        payload_of=shown_payload,
        seconds=lambda count: timedelta(seconds=count),
        result_of=shown_result,
        states=tuple(TaskState),
        themes=THEMES,
        tone_of=tone_of,
        version=version("kurabito"),
        waits_for=waits_for,
        left_out_by=left_out_by,
    )
    return templates


class Pages:
    """Renders pages, each for the reader who asks for it."""

    def __init__(self, addresses: Addresses, assets: Assets, clock: Clock) -> None:
        self.addresses = addresses
        self.clock = clock
        self._assets = assets

    def show(
        self,
        request: Request,
        template: str,
        /,
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        **values: Any,
    ) -> HTMLResponse:
        """The template as an answer to this request."""
        words = self.words(request)
        text = (
            _templates()
            .get_template(template)
            .render(
                address=self.addresses.to,
                asset=lambda name: self.addresses.base_path + self._assets.path(name),
                here=lambda **changes: self.addresses.here(request, **changes),
                lang=words.catalogue.tag,
                path=self.addresses.path_of(request),
                principal=principal_of(request),
                say=words.say,
                theme=theme_of(request),
                this=self.addresses.here(request),
                counts_of={
                    "home": getattr(request.state, "needs_you", 0),
                    "matches": getattr(request.state, "waiting", 0),
                },
                words=words,
                **values,
            )
        )
        # The language is the visitor's own, so a cache between must not hand one's page to another.
        return HTMLResponse(text, status, {"Cache-Control": "no-store", **(headers or {})})

    def words(self, request: Request) -> Words:
        """The language of this visitor at this moment."""
        return Words(language_of(request), to_datetime(self.clock.now()))

    def go(self, path: str) -> RedirectResponse:
        """Send the browser to a page of ours, to be fetched with GET."""
        return RedirectResponse(self.addresses.to(path), 303)

    def go_back(self, asked: Mapping[str, str], path: str) -> RedirectResponse:
        """Send the browser where a form says that it came from, or to this page of ours."""
        return self.go(self.addresses.within(asked.get("next") or path))

    def go_back_saying(self, came_from: str, path: str, **said: object) -> RedirectResponse:
        """Send the browser to where a form says that it came from, with what was done in the address.

        What is None is said no more: each page has names of its own, and says one thing at a time.
        """
        place = urlsplit(self.addresses.within(came_from or path))
        kept = [(name, value) for name, value in parse_qsl(place.query) if name not in said]
        asked = urlencode([*kept, *((name, value) for name, value in said.items() if value is not None)])
        return self.go(f"{place.path}?{asked}" if asked else place.path)


def principal_of(request: Request) -> Principal | None:
    """The caller that the gate let in; None on the log-in page."""
    return getattr(request.state, "principal", None)


def client_of(request: Request) -> str:
    """The address that attempts to log in are counted by."""
    known: str | None = getattr(request.state, "client", None)
    return known or (request.client.host if request.client else "unknown")
