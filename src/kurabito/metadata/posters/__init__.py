"""Posters: `service` fetches and serves them, `pictures` tells what a file is, `cleanup` removes those that no record shows."""
