"""Keeping what is kept in order: copies of the database, and what may be forgotten."""
