"""The downloader that needs no other program: torrents through libtorrent, plain files through our own way out.

client.py         both parts of the embedded downloader behind the one port
file_fetch.py     one plain file over HTTP, piece by piece, so that one that broke off goes on where it was
file_names.py     what a plain download is called on the disk
files.py          the plain files that are downloaded over HTTP: each is noted on the disk
goals.py          how long single torrents are seeded, where they are asked for with a goal of their own
kept.py           files of our own that are there whole or not at all
options.py        how the embedded downloader behaves in its network
room.py           whether there is room for what is to come
same_file.py      whether what a host sends is the file that was asked for: not a page about it
torrent_status.py how a torrent of libtorrent is doing, in the words of the port
torrents.py       torrents in this process, by libtorrent
"""

from kurabito.downloads.clients.embedded.client import EMBEDDED_TYPES, EmbeddedClient
from kurabito.downloads.clients.embedded.options import EmbeddedOptions

__all__ = ["EMBEDDED_TYPES", "EmbeddedClient", "EmbeddedOptions"]
