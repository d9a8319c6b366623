"""One door to every language model: calls, usage, cost, reasoning, retries."""
