"""Learners, one folder per method or paper; only `self_play` imports another one, `network`."""
