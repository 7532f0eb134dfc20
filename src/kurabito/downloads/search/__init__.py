"""Search: what indexers have, what would be decided about it, and the way from a result to a download.

    Indexers.search ─► IndexerItem ─► FoundRelease: merged by hash, read, resolved, decided ─► grab ─► Grabber

decisions.py      what would become of each result, and why
service.py        searches, and remembers what was found until it is grabbed
grab.py           downloads what a person picks
links.py          the link of a result without the key in it
"""
