"""What the program does about itself: its settings, its backups, its first run.

live.py      has the parts follow changed settings
trials.py    tries settings out
backups.py   copies of the database, and the way back through a restart
pages.py     the pages about all of it
"""
