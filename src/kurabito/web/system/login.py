"""`/login` and `/logout`: by a one-time link or by password."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import Request, Response
from markupsafe import Markup

from kurabito.access import SESSION_COOKIE, LoginLimit, Passwords, Sessions
from kurabito.access.sessions import LIFETIME
from kurabito.site.addresses import one_client
from kurabito.site.routing import Router
from kurabito.web.forms import fields_of
from kurabito.web.pages import Pages, client_of, principal_of

_HOME: Final = "/"
_SETUP: Final = "/setup"


async def never() -> bool:
    """Nothing has to be set up."""
    return False


def router(
    pages: Pages,
    *,
    sessions: Sessions,
    passwords: Passwords,
    limit: LoginLimit,
    is_new: Callable[[], Awaitable[bool]] = never,
) -> Router:
    """The way in and the way out. As long as the installation `is_new`, the way in leads to its set-up."""
    routes = Router()
    entrance = Entrance(pages, sessions, passwords, limit, is_new)

    @routes.get("/login")
    async def ask(request: Request) -> Response:
        following = pages.addresses.within(request.query_params.get("next"))
        link = request.query_params.get("token")
        if link is not None:
            return await entrance.by_link(request, link, following)
        if principal_of(request) is not None:
            return pages.go(following)
        return await entrance.form(request, following)

    @routes.post("/login")
    async def send(request: Request) -> Response:
        fields = await fields_of(request)
        following = pages.addresses.within(fields.get("next"))
        return await entrance.by_password(request, fields.get("password", ""), following)

    @routes.post("/logout")
    async def leave(request: Request) -> Response:
        token = request.cookies.get(SESSION_COOKIE)
        if token is not None:
            await sessions.close(token)
        answer = pages.go("/login")
        answer.delete_cookie(SESSION_COOKIE, path=pages.addresses.cookie_path, httponly=True, samesite="strict")
        return answer

    return routes


class Entrance:
    """Begins sessions for those who may come in, and slows down those who guess."""

    def __init__(
        self,
        pages: Pages,
        sessions: Sessions,
        passwords: Passwords,
        limit: LoginLimit,
        is_new: Callable[[], Awaitable[bool]],
    ) -> None:
        self._is_new = is_new
        self._pages = pages
        self._sessions = sessions
        self._passwords = passwords
        self._limit = limit

    async def by_link(self, request: Request, link: str, following: str) -> Response:
        # A dead link is no guess: 256 bits cannot be guessed, and any page on the web can have a browser ask for one.
        token = await self._sessions.redeem(link)
        if token is None:
            problem = self._pages.words(request).say("login.dead_link")
            return await self.form(request, following, status=401, problem=problem)
        return await self._welcome(request, following, token)

    async def form(
        self,
        request: Request,
        following: str,
        *,
        status: int = 200,
        problem: Markup | None = None,
        headers: dict[str, str] | None = None,
    ) -> Response:
        """The log-in page."""
        has_password = await self._passwords.is_set()
        return self._pages.show(
            request,
            "login.html",
            status=status,
            headers=headers,
            following=following,
            problem=problem,
            has_password=has_password,
        )

    async def by_password(self, request: Request, password: str, following: str) -> Response:
        client, words = one_client(client_of(request)), self._pages.words(request)
        if wait := math.ceil(self._limit.wait(client)):
            return await self.form(
                request,
                following,
                status=429,
                problem=words.say("login.too_often", seconds=wait),
                headers={"Retry-After": str(wait)},
            )
        # Counted before it is known to be wrong: many guesses sent at once must not all find the counter at rest.
        self._limit.failed(client)
        if not await self._passwords.fits(password):
            return await self.form(request, following, status=401, problem=words.say("login.wrong"))
        self._limit.succeeded(client)
        return await self._welcome(request, following, await self._sessions.open())

    async def _welcome(self, request: Request, following: str, token: str) -> Response:
        if following == _HOME and await self._is_new():
            following = _SETUP
        return give_session(self._pages, request, following, token)


def give_session(pages: Pages, request: Request, following: str, token: str) -> Response:
    """Send the browser on, logged in."""
    answer = pages.go(following)
    answer.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=LIFETIME,
        path=pages.addresses.cookie_path,
        secure=request.scope["scheme"] == "https",
        httponly=True,
        samesite="strict",
    )
    return answer
