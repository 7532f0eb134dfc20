"""The pages about the program itself, and who may come in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kurabito.access import Keys, LoginLimit, Passwords, Sessions
from kurabito.api.system import settings as own_settings
from kurabito.app.own.backups import OwnBackups
from kurabito.app.own.trials import SettingTrials
from kurabito.app.pages import PageRoutes
from kurabito.app.product import Product
from kurabito.db import Database
from kurabito.logs import recent
from kurabito.settings import Origin, Settings, in_effect
from kurabito.settings.store import SettingsStore
from kurabito.setup.folders import FolderBrowser
from kurabito.setup.progress import SetupProgress
from kurabito.site.routing import Router
from kurabito.web.downloads.connections import ConnectionDesk
from kurabito.web.settings import backups, folder_choice, logs, security, setup
from kurabito.web.settings import settings as settings_pages
from kurabito.web.settings.security import SecurityParts
from kurabito.web.settings.settings import SettingsParts
from kurabito.web.settings.setup import SetupParts


@dataclass(frozen=True, slots=True)
class OwnParts:
    """What the pages about the program itself stand on."""

    started: Settings
    """The settings that this process began with."""
    store: SettingsStore
    restart: Callable[..., None]
    """Has the process begin again, after what it is given was done."""
    progress: SetupProgress | None = None
    """How far the set-up is; None where none is offered."""

    def explained(self) -> list[Origin]:
        """Every setting as it is followed now."""
        return in_effect(self.started, self.store.current)

    async def is_new(self) -> bool:
        """Whether the set-up is to be offered."""
        return self.progress is not None and await self.progress.is_due()


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


def own_routes(own: OwnParts) -> list[Router]:
    """The routes about the program itself."""
    return [own_settings.router(own.store, own.started, own.restart)]


def own_pages(product: Product, own: OwnParts, access: Access) -> list[PageRoutes]:
    """The pages about the program itself."""
    trials = SettingTrials(product.database, product.outbound, lambda: own.store.current).all()
    who = SecurityParts(access.keys, access.passwords, access.sessions, access.login_limit)
    chosen = SettingsParts(own.store, own.started, trials, own.restart)

    def browser() -> FolderBrowser:
        # What is set at this moment: the setting is followed at once.
        return FolderBrowser(map(Path, own.store.current.browse_roots), [own.started.state])

    first_run = SetupParts(
        own.progress or SetupProgress(product.database),
        browser,
        chosen,
        who,
        product.library.libraries,
        product.library.scans,
        product.metadata.index,
        ConnectionDesk(product.connections, product.feeds.services),
        product.feeds.subscriptions,
    )
    return [
        partial(setup.router, parts=first_run),
        partial(folder_choice.router, browser=browser),
        partial(security.router, parts=who),
        partial(backups.router, backups=OwnBackups(own.started, own.restart)),
        partial(logs.router, recent=recent),
        # After those whose addresses begin like its own.
        partial(settings_pages.router, parts=chosen),
    ]
