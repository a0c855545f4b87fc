"""Cards of the page "Decisions"."""
