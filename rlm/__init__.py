"""The REPL harness: a model explores a graph by writing Python, one block a turn."""
