"""Play 1,000 random games at once and count them."""

import numpy as np

import tengen

rng, boards = np.random.default_rng(1), tengen.BatchBoard(1000, 9)
while not boards.over.all():
    masks = boards.legal_masks()
    chances = rng.random(masks.shape) * masks
    chances[:, -1] *= 0.05  # pass only when little else is left
    boards.play(np.where(boards.over, -1, chances.argmax(axis=1)))
print(f"Black wins {(boards.area_scores() > 0).mean():.1%} of {len(boards)} games")
