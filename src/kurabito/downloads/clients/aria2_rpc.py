"""How aria2 is asked: JSON-RPC, with its secret in every call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kurabito.downloads.clients.transport import Calls
from kurabito.downloads.errors import DownloaderLoginRefused, DownloaderUnavailable

_UNAUTHORIZED: Final = "Unauthorized"


class Aria2Rpc:
    """Asks one aria2; raises DownloaderLoginRefused when it does not know the secret."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.secret = ""

    @property
    def _token(self) -> str:
        return f"token:{self.secret}"

    async def ask(self, method: str, *params: Any) -> str | None:
        """What went wrong, if anything did."""
        problem, _ = await self._post(method, [self._token, *params])
        if problem == _UNAUTHORIZED:
            raise self._refused()
        return problem

    async def do(self, method: str, *params: Any) -> None:
        """Have something done; raises DownloaderUnavailable when it was not."""
        if (problem := await self.ask(method, *params)) is not None:
            raise self.failed(method, problem)

    async def batch(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What each of these methods, given with its parameters, has to say; None where it fails.

        aria2 does nothing else in between.
        """
        named = [{"methodName": method, "params": [self._token, *params]} for method, *params in calls]
        problem, answers = await self._post("system.multicall", [named])
        if problem is not None:
            raise self.failed("system.multicall", problem)
        if any(isinstance(answer, dict) and answer.get("message") == _UNAUTHORIZED for answer in answers):
            raise self._refused()
        # Each is a list of one, or an error.
        return [answer[0] if isinstance(answer, list) else None for answer in answers]

    def failed(self, method: str, problem: str) -> DownloaderUnavailable:
        """The error for what aria2 could not do."""
        return DownloaderUnavailable(f"aria2 at {self._calls.url} could not do {method}: {problem}")

    async def _post(self, method: str, params: list[Any]) -> tuple[str | None, Any]:
        response = await self._calls.send(
            "POST", "/jsonrpc", json={"jsonrpc": "2.0", "id": "kurabito", "method": method, "params": params}
        )
        answer = self._calls.json(response)
        if "error" in answer:
            return str(answer["error"].get("message")), None
        return None, answer.get("result")

    def _refused(self) -> DownloaderLoginRefused:
        return DownloaderLoginRefused(
            f"aria2 at {self._calls.url} does not know this secret; give the value of its --rpc-secret in "
            "KURABITO_CLIENT_PASSWORD"
        )
