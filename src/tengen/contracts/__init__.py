"""Placeholder: filled in by its capability."""
