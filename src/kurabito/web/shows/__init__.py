"""Series, the calendar, metadata records and matches."""
