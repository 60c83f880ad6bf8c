"""A worker process: claim, perform, settle, over and over, until it is told to stop."""
