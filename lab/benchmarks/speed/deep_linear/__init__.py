"""Deep linear networks: steps beside other programs, beside the roofline, and side by side."""
