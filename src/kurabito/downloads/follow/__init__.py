"""Following a show in one click: which groups release it, the feed of one of them, and a second one that stands by.

    search ─► offers.py: groups, language, resolution, rhythm ─► service.follow ─► series followed, preferences, subscription

offers.py     which groups release a show, and how; pure
service.py    follows a show by one of its releases
standby.py    the second feed takes over when the first is silent
finished_shows.py feeds of shows that are over and complete are not read
"""
