"""Count a collection: sizes, results, strong players, years."""

import sys
from collections import Counter

import tengen

games = tengen.Corpus(sys.argv[1])
strong = games.filter(lambda record: record.black_rank >= "1d" and record.white_rank >= "1d")
print(f"{len(games)} games, {games.damaged} damaged, {len(strong)} between dan players")
print("winners:", Counter(str(record.result)[:1] for record in games))
print("years:", Counter(record.date[:4] for record in strong).most_common(5))
