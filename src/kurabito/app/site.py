"""What answers HTTP: the API and the pages, behind the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from starlette.types import ASGIApp

from kurabito.api import Live, TaskMeter, create_api
from kurabito.api.following import fetcher_results
from kurabito.api.system import attention
from kurabito.app.compose.attention import VITAL, open_attention
from kurabito.app.compose.fixes import PollOnSight
from kurabito.app.own.pages import Access, OwnParts, open_access, own_pages, own_routes
from kurabito.app.pages import home_page, pages
from kurabito.app.product import Product
from kurabito.app.routes import routes
from kurabito.maintenance.notices import NoticeBoard
from kurabito.settings import Settings
from kurabito.settings.store import SettingsStore
from kurabito.site.gate import BodyLimit, Gate
from kurabito.web import create_web
from kurabito.web.downloads.downloads import LARGEST_UPLOAD, UPLOAD
from kurabito.web.system.task_names import TaskNames

__all__ = ["Access", "build_site", "open_access"]


def build_site(
    settings: Settings,
    product: Product,
    access: Access,
    live: Live,
    meter: TaskMeter,
    *,
    started: datetime,
    troubles: Callable[[], Mapping[str, str]] = dict,
    own: OwnParts | None = None,
    is_starting: Callable[[], bool] = bool,
) -> Gate:
    """The whole site over the product: the API and the pages, and the gate in front of both."""
    own = own or OwnParts(settings, SettingsStore(product.database, settings), lambda *_: None)
    explained = own.explained

    async def waiting() -> int:
        return await product.metadata.matches.count_open() + await product.questions.count_open()

    needs = open_attention(settings, product, troubles, is_starting=is_starting)
    board, sight = NoticeBoard(needs, product.database), PollOnSight(product)
    api = create_api(
        queue=product.queue,
        planes=product.planes,
        live=live,
        meter=meter,
        database=settings.database.partition("://")[0],
        started=started,
        settings=explained,
        lease=settings.lease_seconds,
        troubles=troubles,
        attention=needs.of(*VITAL),
        others=[*routes(product, access.keys), attention.router(board), *own_routes(own)],
    )
    web = create_web(
        queue=product.queue,
        planes=product.planes,
        sessions=access.sessions,
        passwords=access.passwords,
        login_limit=access.login_limit,
        settings=explained,
        openapi=api.openapi,
        log=product.checkpoints,
        thumbnails=product.thumbnails.measure,
        troubles=troubles,
        name_tasks=TaskNames(product.library.libraries, product.feeds.subscriptions).of,
        home=home_page(settings, product, board, sight, own.is_new),
        others=[*pages(product, sight), *own_pages(product, own, access)],
        board=board,
        waiting=waiting,
        is_new=own.is_new,
        base_path=settings.base_path,
    )
    # After the routes of the interface, which are so found first.
    api.mount("/", web)
    return _behind_gate(settings, access, api)


def _behind_gate(settings: Settings, access: Access, api: ASGIApp) -> Gate:
    return Gate(
        api,
        keys=access.keys,
        sessions=access.sessions,
        listens_on=settings.host,
        allowed_hosts=settings.allowed_hosts,
        trusted_proxies=settings.trusted_proxies,
        base_path=settings.base_path,
        bodies={
            **dict.fromkeys(fetcher_results.PATHS, BodyLimit(fetcher_results.LARGEST_BODY)),
            UPLOAD: BodyLimit(LARGEST_UPLOAD),
            # Strangers send these, so they are as small and quick as a password is.
            "/login": BodyLimit(largest=16 << 10, seconds=10.0),
        },
    )
