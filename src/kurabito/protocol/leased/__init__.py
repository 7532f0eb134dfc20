"""The leased tables of the protocol as `LeaseSpec`s.

jobs.py         units of disk work
thumbnails.py   pictures that are drawn; cleanups.py removes them
checkpoints.py  checkpoints of SQLite's log
inspections.py  folders that are looked into
placements.py   files on their way into a library; retries.py has what these two have in common
"""
