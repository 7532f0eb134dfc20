"""Wanted: episodes that were shown and are neither had nor under way, and those that could be better; and the search for them.

    record's episodes ─► expected_episodes.py ─► episodes with their dates ─► store.wanted ─► one search at a time ─► the best is taken

expected_episodes.py which episodes a show should have by now; pure
pauses.py     when an episode is searched for again, and whether a release may be taken unasked; pure
backfill.py   which releases bring the most of what is missing: a batch when the season is over; pure
store.py      what is wanted, and how the search for each goes
service.py    what a program asks: list, search, switch on, backfill
search.py     the search itself, one episode after the other
"""
