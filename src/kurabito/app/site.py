"""What answers HTTP: the API and the pages, behind the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from starlette.types import ASGIApp

from kurabito.access import Keys, LoginLimit, Passwords, Sessions
from kurabito.api import Live, TaskMeter, create_api
from kurabito.api.following import fetcher_results
from kurabito.api.system import attention
from kurabito.app.compose.attention import VITAL, open_attention
from kurabito.app.pages import pages
from kurabito.app.product import Product
from kurabito.app.routes import routes
from kurabito.db import Database
from kurabito.settings import Origin, Settings, in_effect
from kurabito.site.gate import BodyLimit, Gate
from kurabito.web import create_web


@dataclass(frozen=True, slots=True)
class Access:
    """Who may come in, over one database."""

    keys: Keys
    passwords: Passwords
    sessions: Sessions
    login_limit: LoginLimit


def open_access(settings: Settings, database: Database) -> Access:
    """The keys, password and sessions in the product's database."""
    fixed = settings.api_key.get_secret_value() if settings.api_key else None
    return Access(
        Keys(database, fixed=fixed),
        Passwords(database, file=settings.password_file),
        Sessions(database),
        LoginLimit(),
    )


def build_site(
    settings: Settings,
    product: Product,
    access: Access,
    live: Live,
    meter: TaskMeter,
    *,
    started: datetime,
    troubles: Callable[[], Mapping[str, str]] = dict,
    current: Callable[[], Settings] | None = None,
) -> ASGIApp:
    """The whole site over the product: the API and the pages, and the gate in front of both.

    `current` gives the settings as they are now; without it they stay what they were.
    """

    def explained() -> Sequence[Origin]:
        return in_effect(settings, settings if current is None else current())

    async def waiting() -> int:
        return await product.metadata.matches.count_open() + await product.questions.count_open()

    needs = open_attention(settings, product, troubles)
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
        further=[*routes(product, access.keys), attention.router(needs)],
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
        further=pages(product),
        waiting=waiting,
        base_path=settings.base_path,
    )
    # After the routes of the interface, which are so found first.
    api.mount("/", web)
    return _behind_gate(settings, access, api)


def _behind_gate(settings: Settings, access: Access, api: ASGIApp) -> ASGIApp:
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
            # Strangers send these, so they are as small and quick as a password is.
            "/login": BodyLimit(largest=16 << 10, seconds=10.0),
        },
    )
