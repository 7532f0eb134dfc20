"""From a request to its reply: through the guard, in turn, along redirects, and again when that is worth it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

import httpx2

from kurabito.clock import SECOND, Clock
from kurabito.http.bodies import Body, collected, declared_size, unpacked_pieces
from kurabito.http.errors import BadAnswer, BadStatus, OutboundError, TimedOut, Unreachable
from kurabito.http.guard import Guard, Route, Trusted, host_of
from kurabito.http.limits import Limits, within
from kurabito.http.redaction import shown
from kurabito.http.redirects import redirected
from kurabito.http.replies import Reply
from kurabito.http.retries import IDEMPOTENT, PASSING, back_off, retry_after
from kurabito.http.throttle import Courtesy, pause
from kurabito.http.transport import Wire
from kurabito.logs import get_logger

Reader = Callable[[AsyncIterator[bytes], int | None], Awaitable[Body]]
"""Reads a body whose size the host may have announced."""

log = get_logger(__name__)


class Exchange:
    """Carries requests out."""

    def __init__(self, guard: Guard, wire: Wire, courtesy: Courtesy, clock: Clock, random: Callable[[], float]) -> None:
        self._guard = guard
        self._wire = wire
        self._courtesy = courtesy
        self._clock = clock
        self._random = random

    async def reply(self, request: httpx2.Request, read: Reader, trusted: Trusted, limits: Limits) -> Reply:
        """The reply to the request, from the first attempt that succeeds; else the one that came furthest, if one may break."""
        attempt = 0
        broken: Reply | None = None
        while True:
            attempt += 1
            try:
                reply = await self._attempt(request, read, trusted, limits)
                if reply.broke is None:
                    return reply
                broken = max(broken or reply, reply, key=lambda one: one.size)
                raise reply.broke
            except (Unreachable, BadStatus, TimedOut) as error:
                wait = max(back_off(attempt, self._random), _asked_wait(error))
                again = attempt < limits.attempts and wait <= limits.patience
                if not (again and request.method in IDEMPOTENT and _is_passing(error)):
                    if broken is not None:
                        return broken
                    raise
                log.info("fetching again", url=shown(request.url), problem=error.code, seconds=round(wait, 1))
            await pause(self._clock, wait)

    async def _attempt(self, request: httpx2.Request, read: Reader, trusted: Trusted, limits: Limits) -> Reply:
        left = limits.seconds
        for _ in range(limits.redirects + 1):
            route = self._guard.route(request.url, trusted)
            host = host_of(request.url)
            async with self._courtesy.turn(host):
                began = self._clock.now()
                try:
                    outcome = await within(self._clock, left, self._hop(request, route, read, limits))
                except TimeoutError:
                    raise TimedOut(
                        f"{shown(request.url)} was not answered within {limits.seconds:g} s; try again later"
                    ) from None
                except BadStatus as error:
                    if error.retry_after:
                        self._courtesy.hold_off(host, min(error.retry_after, limits.patience))
                    raise
                left -= (self._clock.now() - began) / SECOND
            if isinstance(outcome, Reply):
                return outcome
            request = outcome
        raise BadAnswer(f"{shown(request.url)} is one redirect too many: {limits.redirects} are followed")

    async def _hop(self, request: httpx2.Request, route: Route, read: Reader, limits: Limits) -> Reply | httpx2.Request:
        """One request and its answer, which may be another request."""
        async with self._wire.send(request, route, limits) as response:
            if elsewhere := redirected(request, response):
                return elsewhere
            status = response.status_code
            if log.is_enabled_for(logging.DEBUG):
                # Making a URL fit to be shown takes longer than anything else here.
                log.debug("answered", url=shown(request.url), status=status, route=str(route))
            if not (response.is_success or (status == 304 and _is_conditional(request))):
                wait = retry_after(response.headers.get("retry-after"), self._clock.now())
                raise BadStatus(_said(request, response), status, wait, await _refusal(response, limits))
            async with aclosing(unpacked_pieces(response, limits.max_bytes)) as pieces:
                body = await read(pieces, declared_size(response))
            return Reply(str(request.url), status, response.headers, body.content, body.size, body.broke)


async def _refusal(response: httpx2.Response, limits: Limits) -> bytes:
    """What the host says about not doing it; nothing where that is too long, or makes no sense."""
    if not limits.refusal_bytes:
        return b""
    try:
        async with aclosing(unpacked_pieces(response, limits.refusal_bytes)) as pieces:
            return (await collected(pieces)).content
    except OutboundError:
        return b""


def _is_conditional(request: httpx2.Request) -> bool:
    return "if-none-match" in request.headers or "if-modified-since" in request.headers


def _is_passing(error: OutboundError) -> bool:
    return isinstance(error, Unreachable) or (isinstance(error, BadStatus) and error.answered in PASSING)


def _asked_wait(error: OutboundError) -> float:
    return (error.retry_after or 0.0) if isinstance(error, BadStatus) else 0.0


def _said(request: httpx2.Request, response: httpx2.Response) -> str:
    meaning = f"{response.status_code} {response.reason_phrase}".strip()
    return f"{request.method} {shown(request.url)} was answered with {meaning}"
