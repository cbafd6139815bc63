"""Long texts, documents and dialogues about invented places, whose facts are known."""
