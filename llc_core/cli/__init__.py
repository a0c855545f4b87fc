"""The command line of the engine: one file for each command or pair of commands."""
