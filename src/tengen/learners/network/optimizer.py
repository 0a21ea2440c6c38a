"""Step the weights: orthogonalised momentum for kernels, AdamW for all else; know no loss.

Kernels are matrices (output fields x all they read). Their momentum is made nearly orthogonal by a
few Newton-Schulz steps (Muon), so that rare directions learn as fast as frequent ones; steps are
scaled to the size AdamW's would have, so that both share one rate. Kernels of one shape are
stepped together, since a GPU waits longer for many small products than for one large.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

# Coefficients of the quintic iteration: slope at zero as steep as the bound on its maximum allows.
_A, _B, _C = 3.4445, -4.7750, 2.0315
_STEPS = 5
_ADAM_SIZE = 0.2
"""Root mean square of a usual step of AdamW, in rates."""


def _orthogonalised(matrices: Tensor) -> Tensor:
    """Return matrices (stack x rows x columns) with all singular values brought near one."""
    x = matrices.bfloat16() if matrices.is_cuda else matrices.float()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_STEPS):
        square = x @ x.transpose(1, 2)
        inner = torch.baddbmm(square, square, square, beta=_B, alpha=_C)
        x = torch.baddbmm(x, inner, x, beta=_A)
    if tall:
        x = x.transpose(1, 2)
    return x.to(matrices.dtype)


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised, for kernels of any number of dimensions."""

    def __init__(
        self,
        weights: Iterable[Tensor],
        rate: float,
        *,
        momentum: float = 0.95,
        decay: float = 0.0,
    ) -> None:
        super().__init__(weights, {"lr": rate, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """Step all kernels that have gradients."""
        for group in self.param_groups:
            shapes: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for weight in group["params"]:
                if weight.grad is not None:
                    shapes[tuple(weight.shape)].append(weight)
            for weights in shapes.values():
                self._step(weights, group["lr"], group["momentum"], group["decay"])

    def _step(self, weights: list[Tensor], rate: float, momentum: float, decay: float) -> None:
        for weight in weights:
            if "momentum" not in self.state[weight]:
                self.state[weight]["momentum"] = torch.zeros_like(weight)
        speeds = [self.state[weight]["momentum"] for weight in weights]
        gradients = [weight.grad for weight in weights]
        torch._foreach_lerp_(speeds, gradients, 1 - momentum)
        ahead = torch._foreach_lerp(gradients, speeds, momentum)  # Nesterov's look ahead
        stack = torch.stack(ahead).flatten(2)
        steps = _orthogonalised(stack)
        scale = rate * _ADAM_SIZE * max(stack.shape[1:]) ** 0.5
        torch._foreach_mul_(weights, 1 - rate * decay)
        shaped = [step.view_as(w) for step, w in zip(steps, weights, strict=True)]
        torch._foreach_add_(weights, shaped, alpha=-scale)


class Both:
    """AdamW and Muon as one optimizer: one rate, one state."""

    def __init__(self, network: nn.Module, rate: float, decay: float, *, muon: bool = True) -> None:
        weights = [w for w in network.parameters() if w.requires_grad]
        kernels = [w for w in weights if w.ndim >= 4 and w.numel() > w.shape[0]] if muon else []
        chosen = {id(w) for w in kernels}
        others = [w for w in weights if id(w) not in chosen]
        fused = weights[0].is_cuda
        self.parts: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(others, rate, betas=(0.9, 0.99), weight_decay=decay, fused=fused)
        ]
        if kernels:
            self.parts.append(Muon(kernels, rate, decay=decay))

    def set_rate(self, rate: float) -> None:
        """Set the rate of the next steps."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate

    def step(self) -> None:
        """Step all weights and forget their gradients."""
        for part in self.parts:
            part.step()
            part.zero_grad(set_to_none=True)

    def arrays(self) -> dict[str, Any]:
        """Return the state as NumPy arrays, by name."""
        found: dict[str, Any] = {}
        for i, part in enumerate(self.parts):
            for number, state in part.state_dict()["state"].items():
                for name, value in state.items():
                    found[f"optimizer.{i}.{number}.{name}"] = value.detach().cpu().numpy()
        return found

    def restore(self, arrays: dict[str, Any]) -> None:
        """Take over what `arrays` returned."""
        for i, part in enumerate(self.parts):
            whole = part.state_dict()
            state: dict[int, dict[str, Tensor]] = defaultdict(dict)
            for key, value in arrays.items():
                words = key.split(".")
                if words[0] == "optimizer" and int(words[1]) == i:
                    state[int(words[2])][words[3]] = torch.from_numpy(value.copy())
            part.load_state_dict({"state": dict(state), "param_groups": whole["param_groups"]})
