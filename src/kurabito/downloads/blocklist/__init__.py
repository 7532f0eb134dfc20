"""The blocklist: releases that failed. They are not taken again before a time, and the next best is.

    a download fails ─► its release is blocked ─► Grabber.take_next ─► another release of its episodes

failures.py   which failures are the fault of a release, and how long it is blocked for each; pure
dead_torrents.py torrents that no peer has fail after a time
store.py      blocked releases as they are stored
service.py    what a program asks: list, take off, clear
"""
