"""Descriptions: NFO files and posters beside the media, for libraries that are to have them. Written as placements.

stories.py  what is known of the series that share a folder, and which of their videos Kurabito put there
files.py    which files describe them, and what is in each; pure
store.py    what was written, what is due, and the placements that write, rewrite or rename
rounds.py   brings the descriptions of libraries up to date, whenever something changed

A file that Kurabito did not write is never touched. One that it wrote is written again when what is known changed, if it is still
as it was written, and follows its video when that gets another name.
"""
