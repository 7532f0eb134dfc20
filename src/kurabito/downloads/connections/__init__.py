"""Download clients that the keeper typed into the page, spoken to by this process.

model.py      one connection, what is refused about one, and why
store.py      the rows
service.py    add, change, test and remove; the clients that are open

A connection becomes a service like those that register themselves, so that priority, path mappings and the switch are the
same for all. Its URL is where the keeper said: the guard of what leaves through `http` is not asked, and not opened.
"""
