"""Commands for whoever runs an installation: settings, database, keys, password, and what is wrong."""
