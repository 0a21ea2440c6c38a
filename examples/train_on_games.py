"""Train the maximum-entropy move predictor on your own games and save it."""

import sys

import tengen
from tengen.papers.move_prediction import MovePredictor, PredictionSettings

games = tengen.Corpus(sys.argv[1]).unique().as_arrays()
predictor = MovePredictor(settings=PredictionSettings(passes=1)).fit(games)
predictor.save("mine.safetensors", name="mine", data=sys.argv[1])
priors = predictor.priors(tengen.Board(int(games.rows[0])))
print(f"likeliest first move: index {priors.argmax()}, {priors.max():.1%}")
