"""The engine under the names and arguments of other tools."""
