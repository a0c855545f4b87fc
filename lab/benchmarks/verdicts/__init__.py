"""Whether verdicts and error bars are right: runs whose answers are known."""
