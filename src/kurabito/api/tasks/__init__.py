"""Tasks: `tasks` asks for them and shows them, `events` streams what happens, `worker` serves external workers with `claims`.

`versions` keeps workers of another major version out.

task_models.py tasks as they leave through the API
"""
