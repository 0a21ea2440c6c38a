"""Train and evaluate symmetry networks in CUDA; no command of `tengen` needs it."""
