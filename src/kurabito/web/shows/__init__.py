"""Series, the calendar, metadata records, matches, and questions about releases."""
