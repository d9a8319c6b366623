"""What runs in the kernel process beside the model's code: standard library and IPython only."""
