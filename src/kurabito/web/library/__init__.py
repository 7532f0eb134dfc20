"""Libraries and their folders.

adoption.py      *Unmatched files*: the videos of libraries that no episode has, and why; and *Import files*
folders.py       the folders of a library: what lies in each, with pictures, as a grid or as a list
library.py       *Library*: the libraries, how each is, and its files
library_form.py  the form that says how a library is looked after: what was typed, what it means, and what is wrong with it
media_servers.py the media servers: how each is, and what it is told
naming.py        how a library names its files: templates and choices, tried on ten examples while they are typed
naming_form.py   the form that says how a library names its files: what was typed, what it means, and what is wrong with it
renames.py       what the naming of a library would rename: shown in full, applied, and undone
file.py          the panel of one file: its picture, what it is, where it lies, its copies
"""
