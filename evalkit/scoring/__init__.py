"""From completion to score: one file a scorer."""
