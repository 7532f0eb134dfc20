"""Downloads, downloaders, filter rules and conflicts."""
