"""The stages of a comparison: plan, collect, grade, compare, write. Each works alone."""
