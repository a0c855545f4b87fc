"""Why an estimate differs from the exact value, split into measured causes."""
