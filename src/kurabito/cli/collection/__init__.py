"""Commands about the collection: what is in it, what could be, and what it is called.

adopt.py          `kurabito adopt`: what libraries have already, what of it could not be told, and what is wanted of the shows
database.py       the database of an installation, for commands that look into it
dedupe.py         `kurabito dedupe`: find files with the same content, without a server
duplicates.py     what `kurabito dedupe` does
fetch.py          `kurabito fetch`: preview a feed
file_plans.py     what `kurabito import --dry-run` does: lists files, plans them and shows the plan
import_files.py   `kurabito import`: show what the files of a folder are and where they would go, or give them to a series
import_from.py    `kurabito import-from`: take over the shows of AutoBangumi or Sonarr
media_servers.py  `kurabito media-servers`: which programs hear that folders of libraries changed
metadata.py       `kurabito metadata`: the index of IDs and names, which works offline
notifications.py  `kurabito notifications`: where messages go, and what was sent
placements.py     `kurabito placements`: files on their way into libraries, and what a person says about them
search.py         `kurabito search`: ask the indexers for releases
series_imports.py what `kurabito import --series` does: plans, shows, asks, and gives files to a series
takeovers.py      what `kurabito import-from` does with what it read: shows it, and takes it over
title.py          `kurabito title`: parse release titles, and explain the result
wanted.py         `kurabito wanted`: what is missing
"""
