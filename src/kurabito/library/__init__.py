"""Policy: which files are in the libraries, and what may happen to them."""
