"""What stands on the page beside the valley."""
