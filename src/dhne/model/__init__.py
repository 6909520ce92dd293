"""The model: row encodings, autoencoders, similarities, evidence and losses."""
