"""Page "Benchmark": what sweeps found, sampler by sampler."""
