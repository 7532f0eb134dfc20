"""How a season is told from its show where titles do not count it.

own_names.py  names that a season has of its own, beside its number or without it
"""
