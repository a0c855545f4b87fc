"""Drawings: charts, networks and landscapes that are made in the browser, and that answer to the pointer."""
