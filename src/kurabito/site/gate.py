"""The gate: what stands between the network and the site.

Every request passes here, in this order: is it for us (Host), is it from a page of ours (Origin), is it small enough
(body), who is asking (key or session), may they (scope). A route without a rule is therefore closed.

The web server in front must leave two things to us: it is given no root path, and it believes no proxy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kurabito import logs
from kurabito.access import SESSION_COOKIE, Keys, LoginLimit, Principal, Sessions
from kurabito.access.errors import GuessedTooOften, NotAuthenticated, ScopeMissing
from kurabito.clock import Clock, SystemClock
from kurabito.site.addresses import networks, one_client
from kurabito.site.answers import GuardedAnswer
from kurabito.site.bodies import BodyLimit, IncomingBody
from kurabito.site.client import Client, client_of
from kurabito.site.errors import answer_to
from kurabito.site.hosts import Hosts
from kurabito.site.origins import refuse_foreign
from kurabito.site.permissions import greets, is_page, is_shared, is_static, needed

__all__ = ["BodyLimit", "Gate"]

log = logs.get_logger(__name__)

_USUAL_BODY: Final = BodyLimit()
_POLICY_VIOLATION: Final = 1008
_LONGEST_METHOD: Final = 20
_LONGEST_PATH: Final = 200


class Gate:
    """Wraps the whole site. Behind it, `request.state` has `principal`, `client`, the caller's address, and `may_still`,
    which says whether the caller would be let in now.

    `principal` is None for an anonymous caller, who reaches only public routes. `bodies` has what deviates from the
    usual limit, by the beginning of the path. Below a base path the site sees the same requests whether a proxy took that
    path away or not.
    """

    def __init__(
        self,
        site: ASGIApp,
        *,
        keys: Keys,
        sessions: Sessions,
        listens_on: str,
        allowed_hosts: Iterable[str] = (),
        trusted_proxies: Iterable[str] = (),
        base_path: str = "",
        bodies: Mapping[str, BodyLimit] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._site = site
        self._keys = keys
        self._sessions = sessions
        self._listens_on = listens_on
        self.trust(allowed_hosts=allowed_hosts, trusted_proxies=trusted_proxies)
        self._base_path = base_path
        self._bodies = dict(bodies or {})
        self._clock = clock or SystemClock()
        self._key_limit = LoginLimit(self._clock)
        self._flood = logs.Flood()

    def trust(self, *, allowed_hosts: Iterable[str], trusted_proxies: Iterable[str]) -> None:
        """Answer to these names and believe these proxies from the next request on."""
        self._hosts = Hosts(self._listens_on, allowed_hosts)
        self._trusted = networks(trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self._answer(scope, receive, send)
            case "lifespan":
                await self._site(scope, receive, send)
            case _:
                # No route speaks WebSocket.
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = client_of(scope, self._trusted)
        path = self._below_base(scope["path"])
        body = IncomingBody(scope, receive, self._limit(path), self._clock)
        answer = GuardedAnswer(send, body, private=not is_static(path))
        try:
            self._hosts.check(client.host)
            refuse_foreign(scope["method"], Headers(scope=scope), client.host)
            body.check()
            principal = await self._admit(scope, path, client)
            await self._site(self._seen(scope, client, path, principal), body.receive, answer.send)
            if body.refusal is not None:
                # Whatever the site made of it.
                raise body.refusal
        except Exception as error:
            if answer.started:
                raise
            why = body.refusal or error
            refusal = self._refusal(why, scope, path)
            self._tell(why, refusal, scope, path, client)
            await answer.refuse(refusal)

    def _tell(self, why: Exception, refusal: Response, scope: Scope, path: str, client: Client) -> None:
        # A stranger can be refused as often as they like.
        if (left_out := self._flood.admits(type(why).__name__)) is None:
            return
        logged = {"method": scope["method"][:_LONGEST_METHOD], "path": _logged(path)}
        log.info(
            "refused",
            why=type(why).__name__,
            status=refusal.status_code,
            client=client.address,
            left_out=left_out,
            **logged,
        )

    async def _admit(self, scope: Scope, path: str, client: Client) -> Principal | None:
        right = needed(scope["method"], path)
        principal = await self._who(Headers(scope=scope), client) if greets(path) else None
        if right is None:
            return principal
        if principal is None:
            raise NotAuthenticated("not logged in: log in on the page, or send a valid key as X-Api-Key")
        if not principal.may(right):
            raise ScopeMissing(f"{principal.name!r} may not do this: it takes a key with the scope {right}")
        return principal

    async def _who(self, headers: Headers, client: Client) -> Principal | None:
        if (secret := headers.get("x-api-key")) is not None:
            # A wrong key is refused even when a session would do: a program that sends one means it.
            return await self._holder(_text(secret), one_client(client.address))
        token = _session_token(headers.get("cookie", ""))
        return None if token is None else await self._sessions.holder(token)

    async def _holder(self, secret: str, guesser: str) -> Principal | None:
        # A key that cannot be guessed is let in all the same: other programs of this machine share its address, and one
        # with a wrong key must not lock out the rest.
        wait = self._key_limit.wait(guesser)
        principal = await self._keys.holder(secret, may_guess=not wait)
        if principal is None and wait:
            raise GuessedTooOften(wait)
        if principal is None:
            self._key_limit.failed(guesser)
        return principal

    async def _may_still(self, scope: Scope, path: str) -> bool:
        """Whether the caller would be let in now: a key is revoked and a session ends while a stream goes on."""
        headers = Headers(scope=scope)
        secret, token = headers.get("x-api-key"), _session_token(headers.get("cookie", ""))
        if secret is not None:
            principal = await self._keys.holder(_text(secret))
        else:
            principal = None if token is None else await self._sessions.holder(token)
        right = needed(scope["method"], path)
        return right is None or (principal is not None and principal.may(right))

    def _seen(self, scope: Scope, client: Client, path: str, principal: Principal | None) -> Scope:
        """The request as the client made it, whatever proxies did to it on the way."""
        headers = [header for header in scope["headers"] if header[0] != b"host"]
        state = {
            **scope.get("state", {}),
            "principal": principal,
            "client": client.address,
            "may_still": partial(self._may_still, scope, path),
        }
        return {
            **scope,
            "scheme": client.scheme,
            "headers": [(b"host", client.host.encode("latin-1")), *headers],
            "root_path": self._base_path,
            "path": self._base_path + path,
            "state": state,
        }

    def _refusal(self, error: Exception, scope: Scope, path: str) -> Response:
        if isinstance(error, NotAuthenticated) and is_page(scope["method"], path, Headers(scope=scope)):
            query = scope["query_string"].decode("latin-1")
            wanted = quote(f"{path}?{query}" if query else path, safe="")
            return RedirectResponse(f"{self._base_path}/login?next={wanted}", 303)
        return answer_to(error)

    def _below_base(self, path: str) -> str:
        if self._base_path and (path == self._base_path or path.startswith(self._base_path + "/")):
            return path.removeprefix(self._base_path) or "/"
        return path

    def _limit(self, path: str) -> BodyLimit:
        return next((limit for prefix, limit in self._bodies.items() if path.startswith(prefix)), _USUAL_BODY)


def _logged(path: str) -> str:
    """The path as the log has it: without a token, which may be good again."""
    return "/shared/…" if is_shared(path) else quote(path)[:_LONGEST_PATH]


def _text(header: str) -> str:
    """A header's text as it was written: in UTF-8, which is not what servers read headers in."""
    return header.encode("latin-1").decode("utf-8", "surrogateescape")


def _session_token(cookies: str) -> str | None:
    # By hand, because others set cookies for this host too (every port of localhost shares them), and a parser that
    # stops at a strange one would lose ours. Of several with our name the first belongs to the longest path.
    for cookie in cookies.split(";"):
        name, _, value = cookie.partition("=")
        if name.strip() == SESSION_COOKIE:
            return value.strip()
    return None
