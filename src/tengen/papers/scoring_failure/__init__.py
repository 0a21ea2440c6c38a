"""Scoring finished games: the network of Burzillo and what keeps it from learning."""
