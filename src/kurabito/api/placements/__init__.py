"""Filing: files on their way into libraries, and how libraries name them."""
