"""Duplicates, deletion plans and the trash.

duplicates.py duplicates: which files have the same content, and plans to keep only one of them
trash.py      the trash: what is in it, and how it comes back
"""
