"""Reviews of games: what each move lost, better moves, annotated records, tables over many games.

`game` reviews one game, `annotate` writes a review into its SGF record, `batch` reviews whole
collections into a folder and sums them up.
"""
