"""Requests on their way: one pool of connections for each route."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Final, Self

import httpcore2
import httpx2

from kurabito.clock import Clock
from kurabito.http.addresses import Address
from kurabito.http.errors import ConnectionBroke, TimedOut, Unreachable
from kurabito.http.guard import Guard, Route
from kurabito.http.limits import Limits
from kurabito.http.network import CheckedBackend, Resolver
from kurabito.http.redaction import shown
from kurabito.logs import mask_text

_MOST_CONNECTIONS: Final = 100
_KEPT_CONNECTIONS: Final = 20
_KEPT_SECONDS: Final = 15.0


class Wire:
    """Sends requests and gives answers whose body is still to be read.

    Every route has connections of its own: one that was opened because its host was trusted is never taken by a request
    that does not trust the host.
    """

    def __init__(
        self, guard: Guard, resolver: Resolver, clock: Clock, proxy: str | None, tls: ssl.SSLContext | None
    ) -> None:
        tls = tls or httpcore2.default_ssl_context()
        guarded = CheckedBackend(resolver, clock, guard.admit)
        trusting = CheckedBackend(resolver, clock, _admit_all)
        self._pools = {
            Route.GUARDED: _pool(tls, guarded),
            Route.TRUSTED: _pool(tls, trusting),
        }
        if proxy is not None:
            # The proxy itself is where the settings say, which may well be next door.
            self._pools[Route.PROXY] = _proxy_pool(tls, trusting, httpx2.Proxy(proxy))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        async with AsyncExitStack() as closing:
            for pool in self._pools.values():
                closing.push_async_callback(pool.aclose)

    @asynccontextmanager
    async def send(self, request: httpx2.Request, route: Route, limits: Limits) -> AsyncIterator[httpx2.Response]:
        """The answer to the request; its connection is given back at the end, or closed if the body was not read."""
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions={
                "timeout": {
                    "connect": limits.connect_seconds,
                    "read": limits.idle_seconds,
                    "write": limits.idle_seconds,
                    "pool": limits.seconds,
                }
            },
        )
        with _named(request.url):
            answer = await self._pools[route].handle_async_request(sent)
        try:
            yield httpx2.Response(
                answer.status, headers=answer.headers, stream=_Body(answer.stream, request.url), request=request
            )
        finally:
            await answer.aclose()


class _Body(httpx2.AsyncByteStream):
    """The body as it comes from the connection, with our errors."""

    def __init__(self, stream: object, url: httpx2.URL) -> None:
        assert isinstance(stream, AsyncIterable)
        self._stream = stream
        self._url = url

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _named(self._url):
            async for part in self._stream:
                yield part


@contextmanager
def _named(url: httpx2.URL) -> Iterator[None]:
    """Say which URL it was, and what happened to it, in our own words."""
    try:
        yield
    except httpcore2.ConnectTimeout:
        raise Unreachable(f"{shown(url)} did not agree on a connection in time; try again later") from None
    except httpcore2.TimeoutException:
        raise TimedOut(f"{shown(url)} stopped in the middle of its answer; try again later") from None
    except httpcore2.ProxyError as error:
        raise Unreachable(f"the proxy did not connect us to {shown(url)}: {error}; check its URL") from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError) as error:
        raise ConnectionBroke(
            f"the connection to {shown(url)} broke: {mask_text(str(error)) or type(error).__name__}; try again later"
        ) from None


def _admit_all(_host: str, _addresses: Sequence[Address]) -> None:
    """A trusted host may be anywhere."""


def _pool(tls: ssl.SSLContext, backend: CheckedBackend) -> httpcore2.AsyncConnectionPool:
    return httpcore2.AsyncConnectionPool(
        ssl_context=tls,
        max_connections=_MOST_CONNECTIONS,
        max_keepalive_connections=_KEPT_CONNECTIONS,
        keepalive_expiry=_KEPT_SECONDS,
        network_backend=backend,
    )


def _proxy_pool(tls: ssl.SSLContext, backend: CheckedBackend, proxy: httpx2.Proxy) -> httpcore2.AsyncConnectionPool:
    url = httpcore2.URL(
        scheme=proxy.url.raw_scheme, host=proxy.url.raw_host, port=proxy.url.port, target=proxy.url.raw_path
    )
    kind = httpcore2.AsyncSOCKSProxy if proxy.url.scheme.startswith("socks5") else httpcore2.AsyncHTTPProxy
    return kind(
        proxy_url=url,
        proxy_auth=proxy.raw_auth,
        ssl_context=tls,
        max_connections=_MOST_CONNECTIONS,
        max_keepalive_connections=_KEPT_CONNECTIONS,
        keepalive_expiry=_KEPT_SECONDS,
        network_backend=backend,
    )
