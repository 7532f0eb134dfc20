"""What the offline index says of the names of releases. It decides nothing.

names.py  which names are one show's, and which are several shows'
shows.py  an entry as identity sees it, and which of several is meant
"""
