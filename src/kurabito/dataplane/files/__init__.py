"""Files as the file system knows them: `paths` and `names` are checked, `walk` lists, `ignore` leaves out, `digest` reads, `births` dates."""
