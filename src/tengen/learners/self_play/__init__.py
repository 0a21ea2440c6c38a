"""A network that teaches itself by playing: games side by side, Gumbel search, a window to learn.

Told nothing but the rules. The network itself, its design and its inputs are `network`'s.
"""
