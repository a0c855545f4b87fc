"""What networks do that is measured: their heads, their functions, ensembles of them and decisions by them."""
