"""Calling a service that registered itself."""

from __future__ import annotations

from typing import Any, Final

from kurabito.errors import BadStatus, OutboundError
from kurabito.http import Limits, Outbound, Reply
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
        return await self.request(service, "POST", path, body)

    async def request(self, service: Service, method: str, path: str, body: Any = None) -> Any:
        """What the service answers to any request, read as JSON."""
        return (await self.tell(service, method, path, body)).json()

    async def tell(self, service: Service, method: str, path: str, body: Any = None) -> Reply:
        """Say something to the service; what it answers need not be JSON."""
        return await self._outbound.request(
            method,
            service.url(path),
            json=body,
            headers={"Authorization": f"Bearer {service.registration.token}", "Accept": "application/json"},
            trusted=[service.registration.host],
            limits=_CALL,
        )

    async def answers(self, service: Service) -> bool:
        """Whether somebody is there. Any answer counts: not every service has a page about its health."""
        try:
            await self._outbound.get(service.url("/health"), trusted=[service.registration.host], limits=_PROBE)
        except BadStatus:
            return True
        except OutboundError:
            return False
        return True
