"""What a run leaves behind: typed events, one validated record, and readers of both."""
