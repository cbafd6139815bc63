"""Answers requests with an engine of Python packages, in a process and interpreter of its own.

evalkit starts it by `python -m evalkit_worker`, with the folder above on the path and an
interpreter that has vLLM or transformers. It knows nothing of evalkit and imports the standard
library alone, beside its engine: the two environments need to agree on nothing. It speaks
OpenAI's interface on the loopback address, so that deadlines, faults and the journal are those
of every other server.
"""
