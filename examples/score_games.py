"""Score the games of a collection and compare with their recorded results."""

import sys

import tengen

for record in tengen.Corpus(sys.argv[1]):
    found = tengen.score(record)
    print(f"game {record.game}: {found.result}, recorded {record.result}, safe: {found.safe}")
