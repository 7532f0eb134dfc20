"""Search: what indexers have, what would be decided about it, and the way from a result to a download.

    Indexers.search ─► IndexerItem ─► FoundRelease: merged by hash, read, resolved, decided ─► grab ─► Grabber

decisions.py      what would become of each result, and why
service.py        searches, and remembers what was found until it is grabbed
live_searches.py  searches that a page follows while the answers come
names.py          by which names a series is searched for
pasted_links.py   a magnet link, torrent file, page or feed that is pasted into the search
grab.py           downloads what a person picks
links.py          the link of a result without the key in it
"""
