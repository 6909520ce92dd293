"""What a fitted model is asked: scores, completions, neighbours, and vectors of new nodes."""
