"""The first run: how far the set-up is, and which folders can be chosen in it.

progress.py   the steps, and whether the set-up is still to be offered
folders.py    the folders of this machine that a keeper may choose from, and nothing else
"""
