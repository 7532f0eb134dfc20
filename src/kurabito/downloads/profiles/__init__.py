"""Profiles: how releases are chosen for a show.

    show's own profile, or the named one it uses ─► what its subscription says ─► the default profile ─► nothing in particular

score.py      what a release is worth by preferences, part by part, and why it is not wanted; pure
model.py      a profile; store.py alone writes them
service.py    what a program asks: add, change, remove, give one to a show

Feeds, search and upgrades ask `downloads.choice`, which asks `score`: there is no other judge.
"""
