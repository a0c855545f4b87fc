"""Panel "Why this number?": the error split into its causes."""
