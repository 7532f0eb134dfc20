"""Downloads, downloaders, filters and conflicts.

blocklist.py      releases that failed and are not taken again before a time
conflicts.py      conflicts: episodes that wait for the choice of a release
downloader.py     the HTTP interface of a downloader service: what the core asks of it, on a port of its own
downloads.py      downloads: how far they are, who has them, and what their keeper wants of them
filters.py        filters: rules for which links are taken, and what a change would do before it is made
history.py        the history: what happened to releases and files, and all of it as a file
history_export.py entries of the history as a file, written while they are read
services.py       services that register themselves, and what their user decides about them
transfers.py      what a downloader service is asked, and what it answers
"""
