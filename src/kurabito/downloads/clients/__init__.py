"""The programs that download, each behind the same port: `qbittorrent`, `transmission`, `aria2` and `embedded`.

`factory` makes one from its name, `transport` sends requests, and `sources` turns an item into what a program can take.

aria2_entries.py what aria2 says of one download: whose it is, how far it is, and which files it has
aria2_rpc.py     how aria2 is asked: JSON-RPC, with its secret in every call
leftovers.py     removing what a download left, for programs that do not do it themselves
marks.py         how what we add is told apart from what the program has besides
native_ids.py    what a program calls the downloads that we know by their hash, kept on disk
torrent_files.py what a torrent file says: its hash, its size, and whether its names stay where they belong
"""
