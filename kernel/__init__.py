"""An interpreter for code that a model wrote, in a process of its own."""
