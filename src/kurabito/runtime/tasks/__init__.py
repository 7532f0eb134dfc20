"""Asking for tasks: how one is declared, checked and written down before any worker sees it.

`registry` names the functions that run tasks, `handlers` reads their signatures, `options` and `retry` check what is said
beside them, `intake` checks what is enqueued, `payloads` turns values into bytes and back, `followups` declares what
follows what, and `context` is what a handler is given.
"""
