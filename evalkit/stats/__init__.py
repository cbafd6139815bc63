"""Statistics: pure functions of counts and arrays. No I/O, no clock, no hidden randomness."""
