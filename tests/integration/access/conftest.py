"""A database of each kind with the product's tables, and a clock that stands still."""

from __future__ import annotations
