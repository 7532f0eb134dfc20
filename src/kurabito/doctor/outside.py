"""What is asked outside: TMDB and bgm.tv."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from kurabito.app.compose.feeds import open_outbound
from kurabito.doctor.findings import CheckResult, broken, ok, warning
from kurabito.http import Limits, Outbound
from kurabito.http.errors import BadStatus
from kurabito.metadata.errors import BgmtvError, MetadataError, TmdbError
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.settings import Settings

_PATIENCE: Final = 5.0
_LIMITS: Final = Limits(seconds=_PATIENCE, attempts=1)
_FIRST_ENTRY: Final = 1


def tmdb(settings: Settings) -> CheckResult:
    """TMDB answers, and takes the key. The key is never told."""
    if settings.tmdb_key is None or not (key := settings.tmdb_key.get_secret_value()):
        return ok("TMDB is off: ids come from the offline index alone; KURABITO_TMDB_KEY turns it on")

    async def ask(outbound: Outbound) -> None:
        client = TmdbClient(outbound, key, url=settings.tmdb_url, image_url=settings.tmdb_image_url, limits=_LIMITS)
        await client.search(TmdbKind.TV, "kurabito")

    try:
        _within_patience(settings, ask)
    except TmdbError as problem:
        if isinstance(problem.__cause__, BadStatus) and problem.__cause__.answered == 401:
            return broken("TMDB refuses the key", "set KURABITO_TMDB_KEY to a key of yours that is good")
        return _does_not_answer("TMDB", problem)
    except TimeoutError:
        return _does_not_answer("TMDB", f"nothing came within {_PATIENCE:.0f} seconds")
    return ok("TMDB answers, and takes the key")


def bgm(settings: Settings) -> CheckResult:
    """bgm.tv answers."""

    async def ask(outbound: Outbound) -> None:
        await BangumiClient(outbound, url=settings.bgm_url, limits=_LIMITS).subject(_FIRST_ENTRY)

    try:
        _within_patience(settings, ask)
    except BgmtvError as problem:
        return _does_not_answer("bgm.tv", problem)
    except TimeoutError:
        return _does_not_answer("bgm.tv", f"nothing came within {_PATIENCE:.0f} seconds")
    return ok("bgm.tv answers")


def _within_patience(settings: Settings, ask: Callable[[Outbound], Awaitable[None]]) -> None:
    async def run() -> None:
        async with asyncio.timeout(_PATIENCE), open_outbound(settings) as outbound:
            await ask(outbound)

    asyncio.run(run())


def _does_not_answer(who: str, problem: MetadataError | str) -> CheckResult:
    return warning(
        f"{who} does not answer: {problem}",
        "posters and ids wait until it does; behind a proxy set KURABITO_PROXY",
    )
