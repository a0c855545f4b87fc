"""Controls that set a run: fields of a sampler, settings, checked numbers."""
