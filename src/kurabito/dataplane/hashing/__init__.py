"""Hashing the files of a library: reading their content, and nothing that decides which of them are worth it.

large_files.py    reading one very large file in turns
"""
