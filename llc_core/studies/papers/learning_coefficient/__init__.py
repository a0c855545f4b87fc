"""Studies of Lau, Murfet & Wei on the local learning coefficient: losses of two parameters, optimisers, new data."""
