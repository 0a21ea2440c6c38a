"""The five papers; each is a folder that plugs into the core. Nothing imports this package."""
