"""Every answer to an external worker says which version of their contract the server speaks, and every request is asked for one."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from kurabito.protocol.external import version
from kurabito.site.routing import LazyRoute


def speaks_our_version(
    said: Annotated[
        str,
        Header(
            alias=version.HEADER,
            description="the version that the worker was written for, as `major.minor`",
            # For who reads the description; what does not fit is refused with words, see `version.check`.
            json_schema_extra={"pattern": rf"^{version.SPOKEN.major}\.(0|[1-9][0-9]{{0,3}})$"},
        ),
    ] = version.UNSAID,
) -> None:
    """Refuse a worker of another major version before its word is read."""
    version.check(said)


class VersionedRoute(LazyRoute):
    """A route whose answers, refusals too, carry the version."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as any route does, with one header more."""

        async def send_with_version(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[version.HEADER] = str(version.SPOKEN)
            await send(message)

        await super().handle(scope, receive, send_with_version)
