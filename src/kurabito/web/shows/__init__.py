"""Series, the calendar, metadata records, matches, and questions about releases.

agenda.py      *Calendar*: the episodes of followed shows by day, and whether they are there
calendar.py    *Calendar*: what is on this week, from today on; and what began in any season that the imported index knows
cards.py       a show or a film as a card: its poster, what it is called in the reader's language, and when it began
choose.py      *Choose a match*: search for a title wherever it is known, and take it for some folders or for a series
corrections.py corrections from the page of a series: merge it, split it, move its releases, and undo the last correction
find.py        the search box of every page: shows, pages and settings by their names, and the way to files and releases
matches.py     *Matches*: folders whose names do not say for certain what is in them, and what they may be; a person says it
named.py       a series that a form calls by its id or by its name
questions.py   *Matches*: releases that may belong to several series; a person says to which
record.py      one metadata record: its poster, its ids with where they lead, what it lacks and what can be done about that
series.py      the page of one show: its poster, its episodes with their files, the releases that were seen
series_form.py the form that says what a series is called and how it is counted
titles.py      what a series is called in the reader's language, and the poster that belongs to it
wall.py        *Shows*: the wall of posters, each with how much of it is there; what is new in feeds is asked about first
"""
