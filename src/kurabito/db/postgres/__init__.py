"""PostgreSQL: `pool` keeps connections, `sessions` says how to connect, `listen` and `poll` notice others, `roles` restricts."""
