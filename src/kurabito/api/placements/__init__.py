"""Filing: how libraries name their files."""
