"""From a network to a trained model: batches, steps, epochs, checkpoints."""
