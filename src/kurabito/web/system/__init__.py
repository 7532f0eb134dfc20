"""System, tasks, login and the reference of the API.

login.py      `/login` and `/logout`: by a one-time link or by password
notification_words.py the words of a notification, in the language of its destination
notifications.py      *Notifications*: the destinations, what each hears of and what it was sent
now.py        *Tasks*, those of now: what runs, what waits and for what, what failed and why
payloads.py   payloads and results as text that a person can read: whatever they hold, and however much
reference.py  `/docs`: the HTTP interface for readers, made from its own description
system.py     *System*: who works, on what database, with which settings and why those
task_names.py what tasks are called for people: "Scan of Films" rather than `library.scan`
tasks.py      *Tasks*: every task, a page at a time, and one with all that is known of it
"""
