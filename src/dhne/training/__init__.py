"""Training: batches, steps, epochs, checkpoints and updates."""
