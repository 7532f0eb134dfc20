"""Placements: the way of a finished file into a library. Policy only; a data plane touches the disks.

naming/            what a file is called in its library: templates, presets, numbering, names that every system takes
plans/             what the files of a download or a folder are, and what is done with each; pure
filing/            from a download that is complete to files in a library
descriptions/      NFO files and posters beside the media, for libraries that are to have them
leftovers/         what a filed download leaves behind, once its downloader is done seeding
renames/           what another naming would rename, applied and undone
adoption/          what a library has already counts: its files are given to their episodes where they lie
imports/           files that a person gives to a series, of a library or of the folder for downloads
predecessors/      what AutoBangumi or Sonarr knows, taken over
library_naming.py  how each library names its files, stored and tried on examples
errors.py          what can be wrong with a template, or asked of a placement
file_story.py      one file of a library: what it is, which episodes are in it, where it came from and what happened to it
"""
