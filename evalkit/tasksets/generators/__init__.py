"""Prompts made to order: one module a family, deterministic from a seed, with exact oracles."""
