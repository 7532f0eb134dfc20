"""What leaves: every answer, with what it tells browsers to refrain from."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import Message, Send

from kurabito.site.bodies import IncomingBody

_ALWAYS: Final = {
    # Assets come only from this site, no inline script runs, and no other site may frame a page.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # For browsers that do not know frame-ancestors.
    "X-Frame-Options": "DENY",
    # A login link must not travel on to wherever the next click leads. Not "no-referrer": a browser that hides where it comes
    # from altogether sends no Origin with a form either, and would be taken for a stranger.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class GuardedAnswer:
    """One answer on its way out; a `private` one is kept by no cache unless its route says otherwise."""

    def __init__(self, send: Send, body: IncomingBody, *, private: bool) -> None:
        self._send = send
        self._body = body
        self._private = private
        self.started = False

    async def send(self, message: Message) -> None:
        """Pass on what the site says."""
        if self._body.refusal is not None and not self.started:
            # The site met an error while it read, and cannot know what it meant. The gate does, and answers.
            return
        await self._pass_on(message)

    async def refuse(self, refusal: Response) -> None:
        """Answer in the place of the site."""
        start = {"type": "http.response.start", "status": refusal.status_code, "headers": refusal.raw_headers}
        await self._pass_on(start)
        # The client has all of the answer now, and the connection stays open while it notices.
        await self._pass_on({"type": "http.response.body", "body": refusal.body, "more_body": True})
        await self._body.discard()
        await self._pass_on({"type": "http.response.body"})

    async def _pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self._add_headers(MutableHeaders(scope=message))
        await self._send(message)

    def _add_headers(self, headers: MutableHeaders) -> None:
        for name, value in _ALWAYS.items():
            headers.setdefault(name, value)
        if self._private:
            headers.setdefault("Cache-Control", "no-store")
        if not self._body.is_whole:
            # The rest may never come, and would hold the connection for as long as it does not.
            headers["Connection"] = "close"
