"""Calling a service that registered itself."""

from __future__ import annotations

import json
from typing import Any, Final

from kurabito.http import Limits, Outbound, Reply
from kurabito.http.errors import BadStatus, OutboundError
from kurabito.logs import mask_text
from kurabito.modules.services import Service

# Its host is trusted because it registered; where it would send us is not, so nothing is followed.
_CALL: Final = Limits(redirects=0, attempts=1, refusal_bytes=65_536)
_LONGEST_CAUSE: Final = 500
_PROBE: Final = Limits(redirects=0, attempts=1, seconds=2.0, connect_seconds=2.0, idle_seconds=2.0, max_bytes=65_536)


class ServiceCalls:
    """Calls services, each at its own host and port only, with the token that it gave us."""

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound

    async def post(self, service: Service, path: str, body: Any) -> Any:
        """What the service answers, read as JSON."""
        return await self.request(service, "POST", path, body)

    async def request(self, service: Service, method: str, path: str, body: Any = None) -> Any:
        """What the service answers to any request, read as JSON."""
        return (await self.send(service, method, path, body)).json()

    async def send(self, service: Service, method: str, path: str, body: Any = None) -> Reply:
        """Send a request; the answer need not be JSON. A refusal is raised in the words of the service."""
        try:
            return await self._outbound.request(
                method,
                service.url(path),
                json=body,
                headers={"Authorization": f"Bearer {service.registration.token}", "Accept": "application/json"},
                trusted=[service.registration.host],
                limits=_CALL,
            )
        except BadStatus as refused:
            raise with_cause(refused) from None

    async def answers(self, service: Service) -> bool:
        """Whether the service answers. Any answer counts: not every service has a page about its health."""
        try:
            await self._outbound.get(service.url("/health"), trusted=[service.registration.host], limits=_PROBE)
        except BadStatus:
            return True
        except OutboundError:
            return False
        return True


def with_cause(refused: BadStatus) -> BadStatus:
    """The same error in the words of the service, where it said any: what is wrong is mostly behind it."""
    cause = _cause(refused.content)
    return refused if cause is None else BadStatus(cause, refused.answered, refused.retry_after)


def _cause(content: bytes) -> str | None:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return None
    error = answer.get("error") if isinstance(answer, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    if not isinstance(message, str):
        return None
    return mask_text("".join(char for char in message if char.isprintable()))[:_LONGEST_CAUSE].strip() or None
