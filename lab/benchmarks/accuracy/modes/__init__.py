"""Several minima: which of them chains find, what sharing θ or a ladder of temperatures saves."""
