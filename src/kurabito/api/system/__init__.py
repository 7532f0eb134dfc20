"""The installation: health, metrics, keys and maintenance."""
