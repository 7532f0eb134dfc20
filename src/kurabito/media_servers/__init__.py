"""Media servers: Jellyfin, Emby, Plex and Kodi hear which folders changed, and so does a webhook for the rest.

    file in its place ─► notice for each server ─► task after a few quiet seconds ─► one call for each folder

model.py    a media server as its keeper sets it, and how telling it goes
clients.py  how each kind is told, in its own words
store.py    servers and notices as they are stored; no other module writes them
notices.py  which folders are to be told, and the task that tells them
service.py  what a program asks: add, change, test, remove
search_links.py where a reader finds a show in a media server: the page of its search, which needs no id of that server

A token is a secret: it is in no answer, no error and no log. Nothing here is ever in the way of filing.
"""
