"""Posters: `service` fetches and serves them, `pictures` tells what a file is, `cleanup` removes those that no record shows.

cleanup.py   posters that no record shows any more are removed, by a task like any other
downloads.py poster downloads under way: five at once, and never two of the same
pictures.py  what sort of picture a file is, by its first bytes: names and headers may be wrong
service.py   posters: fetched once, kept under a name of our own, served from here
"""
