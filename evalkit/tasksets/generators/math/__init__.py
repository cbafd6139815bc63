"""Word problems with exact answers: templates by topic, dressed anew from each seed."""
