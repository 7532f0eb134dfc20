"""Pictures of files: which are drawn, under which name, how many may wait, and when they are removed. Data planes draw them."""
