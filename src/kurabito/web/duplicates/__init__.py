"""Duplicates, deletion plans and the trash.

duplicates.py *Duplicates*: groups of files with the same content, and asking for a plan to keep one copy of each
plan_form.py  the form that asks for a plan: which copy to keep, what never to touch, and what becomes of the others
plans.py      a plan to keep one copy of each: what it would delete, trying it, and carrying it out
trash.py      *Trash*: what was moved away, until when, and the way back
"""
