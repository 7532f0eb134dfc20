"""What the offline index says of the names of releases. It decides nothing.

names.py  which names are one show's, and which are several shows'
parts.py  the seasons of a show: how far their numbers go, and what comes after them
pieces.py  which pieces of a name are names
shows.py  an entry as identity sees it, and which of several is meant
"""
