"""The downloader that needs no other program: torrents through libtorrent, plain files through our own way out."""

from kurabito.downloads.clients.embedded.client import EMBEDDED_TYPES, EmbeddedClient
from kurabito.downloads.clients.embedded.options import EmbeddedOptions

__all__ = ["EMBEDDED_TYPES", "EmbeddedClient", "EmbeddedOptions"]
