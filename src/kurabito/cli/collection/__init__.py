"""Commands about the collection: what is in it, what could be, and what it is called."""
