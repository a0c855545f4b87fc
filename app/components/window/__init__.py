"""Components of the whole window: the list of pages, notices, tours, the projector, and what the browser knows."""
