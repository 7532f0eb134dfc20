"""Downloads, their way into libraries, downloaders, filter rules and conflicts.

blocklist.py        releases that failed: why, until when they are not taken, and how to take them off the list
conflicts.py        episodes whose release a person still has to choose, and the choice
download_pages.py   which downloads a page shows: those in some states, the newest first, by the downloaders that have them
downloaders.py      the downloaders: how each is, which is asked first, where it sees our folders
downloads.py        *Downloads*: what is under way, at whom and how far; what waits, what ended and why
file_questions.py   files that a person has to identify, and the answers
filter_form.py      the form that asks for a filter rule: what was typed, what it means, and what is wrong with it
filter_outcomes.py  what a change of the filter rules would do, as far as a page has room for it
history.py          *History*: what happened to releases and files, of everything or of one show
placements.py       what a person says about files on their way into a library: try it again, keep both, replace it, leave it
rule_moves.py       switching a filter rule on or off, and removing it: what that does is shown
rules.py            *Rules*: which releases are taken
scopes.py           what a filter rule can be about, by name: for the one who chooses, and for the one who reads
shared_addresses.py addresses for calendars and feed readers: made, renewed and revoked
connections.py      the form by which a download client is connected: kind, address, user, password, test
"""
