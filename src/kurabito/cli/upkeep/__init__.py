"""Commands for the operator of an installation: settings, database, keys, password, and what is wrong."""
