"""What fits numbers to games: one folder a paper, none of which knows the others."""
