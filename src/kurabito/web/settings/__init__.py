"""The settings, and what else a keeper decides about the program itself.

settings.py        the settings by groups: what each is, where it comes from, tests, restart
settings_form.py   what was typed into a group, and what is wrong at which field
security.py        the password, the browsers that are logged in, the keys of programs
backups.py         copies of the database: make, download, restore
logs.py            the last lines of the log
setup.py           the first run, in steps that can be skipped
folder_choice.py   the folders that a keeper may choose from: what the server sees, and nothing else
keeper.py          what only a person may do who is logged in on the page
"""
