"""Questions of fact: from tables of stable knowledge, on things that do not exist, on passages."""
