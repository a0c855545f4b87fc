"""How numbers are computed: products, cores, precision, random streams, GPU."""
