"""Monte Carlo Go as in 1993: all moves as first, and simulated annealing."""
