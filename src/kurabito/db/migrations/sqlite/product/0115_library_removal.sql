-- Removing a library takes a while where it has many files. From this moment on no work is begun in it.
ALTER TABLE library_roots ADD COLUMN removing_since INTEGER;
