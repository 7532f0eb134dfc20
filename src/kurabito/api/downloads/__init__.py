"""Downloads, downloaders, filters and conflicts."""
