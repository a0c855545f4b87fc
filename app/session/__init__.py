"""One visitor's session: polling, calculations beside it, errors, who may stop what."""
