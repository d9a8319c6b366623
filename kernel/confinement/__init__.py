"""Ways to keep a kernel apart from everything it has no business with, and proof that they hold."""
