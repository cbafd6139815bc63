"""Things that answer: OpenAI-compatible servers and the embedded local model."""
