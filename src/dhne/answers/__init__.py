"""Answers of a fitted model: scores, completions, neighbours, and vectors of new nodes."""
