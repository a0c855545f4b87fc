"""Deep linear networks: loss, exact data statistics, random problems, families."""
