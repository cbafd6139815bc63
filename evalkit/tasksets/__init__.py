"""Named bundles of samples: where prompts and targets come from."""
