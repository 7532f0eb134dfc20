"""Metadata records, matches, the calendar and posters."""
