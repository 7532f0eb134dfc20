"""The catalog: which series and episode a release is about, and the links that can be downloaded."""
