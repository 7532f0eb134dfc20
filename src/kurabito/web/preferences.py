"""Language and light: chosen by a link, remembered in cookies.

`?language=ja` and `?theme=dark` work on every page, the log-in included, and without JavaScript: the choice is put into
a cookie, and the browser is sent to the same page without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kurabito.web.addresses import Addresses
from kurabito.web.languages import Catalogue, catalogues, choose

THEMES: Final = ("system", "light", "dark")
_COOKIE: Final = "kurabito_{}"
_YEAR: Final = 365 * 86_400


def language_of(request: Request) -> Catalogue:
    """The catalogue that this visitor reads."""
    return choose(request.cookies.get(_COOKIE.format("language")), request.headers.get("accept-language", ""))


def theme_of(request: Request) -> str:
    """The theme that this visitor chose; `system` follows their machine."""
    chosen = request.cookies.get(_COOKIE.format("theme"))
    return chosen if chosen in THEMES else THEMES[0]


class PreferenceLinks:
    """Answers the links that choose; everything else passes."""

    def __init__(self, site: ASGIApp, addresses: Addresses) -> None:
        self._site = site
        self._addresses = addresses
        self._choices: Mapping[str, frozenset[str]] = {
            "language": frozenset(catalogues()),
            "theme": frozenset(THEMES),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and scope["query_string"]:
            request = Request(scope)
            chosen = {
                name: value
                for name, known in self._choices.items()
                if (value := request.query_params.get(name)) in known
            }
            if chosen:
                await self._remember(request, chosen)(scope, receive, send)
                return
        await self._site(scope, receive, send)

    def _remember(self, request: Request, chosen: Mapping[str, str]) -> RedirectResponse:
        answer = RedirectResponse(self._addresses.here(request, **dict.fromkeys(chosen)), 303)
        for name, value in chosen.items():
            answer.set_cookie(
                _COOKIE.format(name),
                value,
                max_age=_YEAR,
                path=self._addresses.cookie_path,
                secure=request.scope["scheme"] == "https",
                httponly=True,
                samesite="lax",
            )
        return answer
