"""What learners see of a position: patterns, tactics, blocks. Knows boards; learns nothing."""
