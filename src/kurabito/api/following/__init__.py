"""Subscriptions, what they brought, and the rules for titles."""
