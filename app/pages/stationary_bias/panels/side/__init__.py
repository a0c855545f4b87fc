"""One of the two samplers that run beside each other: its histogram, its numbers, its distribution in words."""
