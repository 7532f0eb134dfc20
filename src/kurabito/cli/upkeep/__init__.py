"""Commands for the operator of an installation: settings, database, keys, password, and what is wrong.

addresses.py `kurabito address`: addresses for calendars and feed readers
config.py    `kurabito config`: what is set, and where; and what the database holds of it
db.py        `kurabito db`: the database itself
doctor.py    `kurabito doctor`: what is wrong with this installation, and how to fix it
keys.py      `kurabito key`: API keys for programs
user.py      `kurabito user`: logging in to the page
"""
