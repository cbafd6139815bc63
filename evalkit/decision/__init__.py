"""From paired scores to a verdict: pairing, comparison, decision rule."""
