"""Questions, typed answers, scoring, question graphs and the reference solver."""
