"""What predictions are worth: semi-synthetic risk of all methods, beside the Bayes risk."""
