"""Feeds and title rules.

follow.py            following a feed, in steps: its URL, what it would give, and what of that is wanted
following.py         *Following*: the feeds that are followed, how each is, and what came of its items
rule_form.py         the form that asks for a title rule: a draft made from a title, what was typed, and what is wrong with it
subscription_form.py the form that says how a feed is followed: what was typed, what it means, and what is wrong with it
title_rules.py       title rules: those that there are, and one more for titles that cannot be read, tried while it is written
"""
