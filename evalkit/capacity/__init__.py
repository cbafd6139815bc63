"""Does it fit? Memory of weights, KV cache, draft model and activations, from metadata alone."""
