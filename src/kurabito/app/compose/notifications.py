"""Notifications over one open queue."""

from __future__ import annotations

from kurabito.app.compose.metadata import MetadataParts
from kurabito.catalog.catalog import Catalog
from kurabito.http import Outbound
from kurabito.notifications.outbox import NotificationOutbox
from kurabito.notifications.senders import Senders
from kurabito.notifications.service import Notifications
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.settings import Settings
from kurabito.web.system.notification_words import NotificationWords


def open_notifications(
    settings: Settings, queue: DelegatedTasks, outbound: Outbound, catalog: Catalog, metadata: MetadataParts
) -> tuple[Notifications, NotificationOutbox]:
    """What is asked about notifications, and what sends them."""
    words = NotificationWords(catalog, metadata.service)
    senders = Senders(outbound, settings.allow_private_hosts, settings.proxy)
    return Notifications(queue.database, senders, words.write), NotificationOutbox(queue, senders, words.write)
