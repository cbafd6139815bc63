"""Where the workers lie: programs that run under an interpreter of the user's choice."""
