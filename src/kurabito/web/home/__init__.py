"""The first page: `home` shows the collection and what needs its keeper; `remedies` says where a notice leads."""
