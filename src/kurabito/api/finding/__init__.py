"""Indexers, and the search through them.

follow.py   follow a show in one click: which groups release it, and the one that is chosen
indexers.py indexers: what can be searched
profiles.py profiles: how releases are chosen
releases.py search for releases, and take one of them
wanted.py   what is wanted: missing episodes, and those that could be better
"""
