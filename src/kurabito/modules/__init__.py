"""Modules: services that registered themselves, and what each can do."""
