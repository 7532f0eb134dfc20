"""System, tasks, login and the reference of the API."""
