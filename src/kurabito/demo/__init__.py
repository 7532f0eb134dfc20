"""The demo: a made-up world of shows, files, feeds and torrents, so that every page has something to show.

world.py      starts everything and lets it happen
shows.py      shows and films; metadata.py answers about them as TMDB and bgm.tv would
files.py      folders of a collection, with videos.py and pictures.py
feeds.py      feeds of releases; seeder.py seeds their torrents
market.py     a site with a search
stand.py      the small server behind all of these
"""
