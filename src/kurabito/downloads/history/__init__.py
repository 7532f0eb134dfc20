"""History: what happened to releases and files, read from what is stored about them anyway.

Nothing is written for it, so it cannot disagree with the downloads, and it needs no retention of its own.

entry.py     one entry, its kinds, and the cursor behind it
store.py     reads each kind from its table, newest first; store.sql and named.sql have the statements
service.py   pages of all kinds together
airings.py   the days on which episodes of followed shows are shown; airings.sql
"""
