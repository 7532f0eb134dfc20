"""The composition root: the one place where ports meet adapters.

    state.py        the folder of everything we keep, and the lock that says who has it
    database.py     made ready before it is used: backed up, then migrated
    shelves.py      libraries, their scans and jobs
    following.py    feeds and services, and the one way out
    downloading.py  what is taken, who fetches it, and how far it is; built_in.py is the downloader inside
    metadata.py     what fills in posters and ids, and what is asked about them
    drawn.py        thumbnails
    parts.py        all of these, as the site asks them
    tasks.py        every task of the product, and what follows what
    listening.py    where we listen, and who may connect there
    interface.py    the routes of the interface; pages.py has those of the pages
    site.py         what answers HTTP
    downloader.py   a downloader service, which is a program of its own
    supervision.py  the data plane as a process that is kept alive
    serving.py      all of it together, until it is told to stop
    doctor/         what is wrong here, and how to make it right
    demo.py         the same on made-up data
    demo_files.py   folders of shows that nobody ever made, with videos of demo_videos.py
    demo_feeds.py   feeds of their releases; demo_downloads.py seeds them
    demo_shows.py   what is known of them; demo_metadata.py tells it, with posters of demo_pictures.py
    demo_stand.py   serves all that on this machine

Nothing is imported here, so that a command loads only what it needs.
"""
