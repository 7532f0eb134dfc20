"""Calling a service that registered itself."""

from __future__ import annotations

from typing import Any, Final

from kurabito.errors import BadStatus, OutboundError
from kurabito.http import Limits, Outbound
from kurabito.modules.services import Service

# Its host is trusted because it registered; where it would send us is not, so nothing is followed.
_CALL: Final = Limits(redirects=0, attempts=1)
_PROBE: Final = Limits(redirects=0, attempts=1, seconds=2.0, connect_seconds=2.0, idle_seconds=2.0, max_bytes=65_536)


class ServiceCalls:
    """Calls services, each at its own host and port only, with the token that it gave us."""

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound

    async def post(self, service: Service, path: str, body: Any) -> Any:
        """What the service answers, read as JSON."""
        reply = await self._outbound.request(
            "POST",
            service.url(path),
            json=body,
            headers={"Authorization": f"Bearer {service.registration.token}", "Accept": "application/json"},
            trusted=[service.registration.host],
            limits=_CALL,
        )
        return reply.json()

    async def answers(self, service: Service) -> bool:
        """Whether somebody is there. Any answer counts: not every service has a page about its health."""
        try:
            await self._outbound.get(service.url("/health"), trusted=[service.registration.host], limits=_PROBE)
        except BadStatus:
            return True
        except OutboundError:
            return False
        return True
