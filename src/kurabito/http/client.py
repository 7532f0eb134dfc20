"""The one client for everything that leaves Kurabito."""

from __future__ import annotations

import random
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from functools import partial
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, Final, Self

import httpx2

from kurabito.clock import Clock, SystemClock
from kurabito.http.bodies import ENCODINGS, Body, collected, collected_as_far, counted, written
from kurabito.http.errors import UrlNotAllowed
from kurabito.http.guard import Guard, Trusted
from kurabito.http.limits import Limits
from kurabito.http.network import Resolver, resolve
from kurabito.http.replies import Reply, Validators
from kurabito.http.sending import Exchange
from kurabito.http.throttle import Courtesy
from kurabito.http.transport import Wire

DEFAULT_LIMITS: Final = Limits()


class Outbound:
    """Fetches from outside: guarded, bounded, polite.

        async with Outbound(private_hosts=["nas.local"]) as outbound:
            feed = await outbound.get("https://example.org/feed.xml", validators=known)
            if not feed.not_modified:
                read(feed.content)

    `trusted` names hosts that may be inside our own network for this one request, because a user or a setting named them.
    """

    def __init__(
        self,
        *,
        private_hosts: Iterable[str] = (),
        proxy: str | None = None,
        at_once: int = 2,
        interval: float = 0.0,
        clock: Clock | None = None,
        resolver: Resolver = resolve,
        tls: ssl.SSLContext | None = None,
        random: Callable[[], float] = random.random,
    ) -> None:
        clock, private_hosts = clock or SystemClock(), tuple(private_hosts)
        self._like_this = partial(
            Outbound,
            private_hosts=private_hosts,
            at_once=at_once,
            interval=interval,
            clock=clock,
            resolver=resolver,
            tls=tls,
            random=random,
        )
        self._proxied: dict[str, Outbound] = {}
        guard = Guard(private_hosts, proxied=proxy is not None)
        self._courtesy = Courtesy(clock, at_once=at_once, interval=interval)
        self._wire = Wire(guard, resolver, clock, proxy, tls)
        self._exchange = Exchange(guard, self._wire, self._courtesy, clock, random)
        self._user_agent = _user_agent()

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        for other in self._proxied.values():
            await other.__aexit__()
        await self._wire.__aexit__()

    def through(self, proxy: str) -> Outbound:
        """The same way out through another proxy. It is open as long as this one."""
        if proxy not in self._proxied:
            self._proxied[proxy] = self._like_this(proxy=proxy)
        return self._proxied[proxy]

    def pace(self, host: str, interval: float) -> None:
        """Let so many seconds pass from one request to this host to the next; other hosts have the common interval."""
        self._courtesy.pace(host, interval)

    async def get(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        validators: Validators | None = None,
        trusted: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
        may_break: bool = False,
    ) -> Reply:
        """What the URL gives; with `validators`, only if it changed since they came. `params` are added to its query.

        `may_break` takes what came of a body whose connection breaks every time; the reply says so (`broke`).
        """
        asked = {**(headers or {}), **(validators.headers() if validators else {})}
        request = self._request("GET", url, asked, params=params)
        read = _as_far_as_it_comes if may_break else _in_memory
        return await self._exchange.reply(request, read, Trusted.parse(trusted), limits)

    async def get_json(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        trusted: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> Any:
        """What the URL gives, read as JSON."""
        asked = {"Accept": "application/json", **(headers or {})}
        return (await self.get(url, params=params, headers=asked, trusted=trusted, limits=limits)).json()

    async def request(
        self,
        method: str,
        url: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        trusted: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> Reply:
        """The answer to any request, with its body in memory."""
        request = self._request(method, url, headers, params=params, json=json, content=content)
        return await self._exchange.reply(request, _in_memory, Trusted.parse(trusted), limits)

    async def download(
        self,
        url: str,
        to: Path,
        *,
        headers: Mapping[str, str] | None = None,
        trusted: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
        on_progress: Callable[[int, int | None], None] | None = None,
    ) -> Reply:
        """Put what the URL gives into the file `to`, which appears when it is whole.

        `on_progress` is told how many bytes came so far, and of how many if the host said so; another attempt begins at 0.
        """

        async def read(pieces: AsyncIterator[bytes], declared: int | None) -> Body:
            if on_progress is None:
                return await written(to, pieces)
            async with aclosing(counted(pieces, lambda size: on_progress(size, declared))) as pieces_counted:
                return await written(to, pieces_counted)

        request = self._request("GET", url, headers)
        return await self._exchange.reply(request, read, Trusted.parse(trusted), limits)

    def _request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        content: bytes | None = None,
    ) -> httpx2.Request:
        try:
            parsed = httpx2.URL(url)
            # A query that is written again may come out differently, so one that needs nothing is left as it is.
            parsed = parsed.copy_merge_params(params) if params else parsed
        except httpx2.InvalidURL as error:
            raise UrlNotAllowed(f"this is not a URL that can be fetched: {error}; give one like https://…") from None
        sent = httpx2.Headers({"User-Agent": self._user_agent, "Accept": "*/*", "Accept-Encoding": ENCODINGS})
        if parsed.userinfo:
            sent["Authorization"] = "Basic " + b64encode(f"{parsed.username}:{parsed.password}".encode()).decode(
                "ascii"
            )
            # Left out here, it cannot get into a log, an error or a reply.
            parsed = parsed.copy_with(username=None, password=None)
        sent.update(headers)
        return httpx2.Request(method.upper(), parsed, headers=sent, json=json, content=content)


async def _in_memory(pieces: AsyncIterator[bytes], _declared: int | None) -> Body:
    return await collected(pieces)


async def _as_far_as_it_comes(pieces: AsyncIterator[bytes], _declared: int | None) -> Body:
    return await collected_as_far(pieces)


def _user_agent() -> str:
    """Who asks, and where one can read about it if the package names a home page."""
    package = metadata("kurabito")
    homes = [
        entry.partition(", ")[2] for entry in package.get_all("Project-URL") or () if entry.startswith("Homepage,")
    ]
    return " ".join([f"Kurabito/{package['Version']}", *(f"(+{home})" for home in homes)])
