"""Subscriptions, what they brought, and the rules for titles.

catalog.py         the catalog: items of feeds, links, series and their episodes
corrections.py     corrections: merge, split, move and release, each with a preview; what made a series what it is
fetcher_results.py where fetchers bring what they read from feeds
preferences.py     what is liked better, as subscriptions and profiles take it
previews.py        the preview of a feed
questions.py       questions about releases that may be of several series, and their answers
relinks.py         what came of reading links again, after a rule, a name, an offset, the index or the parser changed
subscriptions.py   subscriptions: feeds that are followed
title_rules.py     rules for titles that are read wrongly
wishes.py          what is wanted of several series at once: none, what comes, what is missing, all
"""
