"""Indexers: what can be searched for releases, how each is asked, and how it is.

    SearchQuery ─► Indexers (limits, rest, health) ─► Indexer: Torznab or SearchFeed ─► IndexerItem ─► downloads.search

port.py           what is asked of an indexer and what it answers
torznab.py        Prowlarr, Jackett and others; addresses.py reads their URLs, capabilities.py what they can do
search_feed.py    a site whose search is a feed; definitions.py reads how a site is described, `sites` has ours
secrets.py        leaves keys and passkeys out of what indexers answer
results.py        one result; pages.py collects them page by page
model.py          an indexer as its keeper sets it, and how asking it goes; store.py alone writes them
service.py        what a program asks: add, change, test, search them all

A key is a secret: it is in no answer, no error and no log.
"""
