"""The engine: `run.Run` steps all chains of all settings; the parts of a run are beside it."""
