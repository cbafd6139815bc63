"""Renderers of `comparison.json`: one view-model, several forms."""
