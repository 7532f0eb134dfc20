"""Duplicates, deletion plans and the trash."""
