"""Tours of object-relational mappers, each a function that gives what it saw, so that two servers can be compared."""
