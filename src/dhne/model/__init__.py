"""The model: rows, autoencoders, similarities, evidence, losses."""
