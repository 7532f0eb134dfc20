"""The contract of the two planes: what each may read and write of the tables that they share."""
