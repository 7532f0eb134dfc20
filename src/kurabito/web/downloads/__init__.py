"""Downloads, their way into libraries, downloaders, filter rules and conflicts."""
