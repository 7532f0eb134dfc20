"""The programs that download, each behind the same port: `qbittorrent`, `transmission`, `aria2` and `embedded`.

`factory` makes one from its name, `transport` sends requests, and `sources` turns an item into what a program can take.
"""
