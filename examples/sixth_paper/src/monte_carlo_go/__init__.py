"""Monte Carlo Go (Brügmann 1993): all moves as first, and simulated annealing of their order."""
