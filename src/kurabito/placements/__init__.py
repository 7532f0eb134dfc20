"""Placements: the way of a finished file into a library. Policy only; a data plane touches the disks.

naming/            what a file is called in its library: templates, presets, numbering, names that every system takes
plans/             what the files of a download or a folder are, and what is done with each; pure
filing/            from a download that is complete to files in a library
adoption/          what a library has already counts: its files are given to their episodes where they lie
library_naming.py  how each library names its files, stored and tried on examples
errors.py          what can be wrong with a template, or asked of a placement
"""
