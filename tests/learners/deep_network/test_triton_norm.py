"""Triton's kernels say what PyTorch says; by Triton's interpreter, since tests need no GPU."""

import os
import subprocess
import sys

from tests.needs import need

need("torch")
need("triton")

_COMPARE = """
import torch
from tengen.learners.deep_network import network, triton_norm
from tengen.learners.deep_network.design import Design
from tengen.learners.deep_network.inputs import N_PLANES

def passed(quickly):
    torch.manual_seed(1)
    network.triton_norm = triton_norm
    network.FieldNorm._quickly = lambda norm, x: quickly and norm.training
    net = network.Network(Design(fields=2, blocks=3, head_fields=4, value_hidden=16)).train()
    for weight in net.parameters():
        torch.nn.init.normal_(weight, std=0.2)
    planes = torch.rand(3, N_PLANES, 9, 7)
    said = net(planes)
    sum(part.square().mean() for part in said if part is not None).backward()
    slopes = {name: weight.grad for name, weight in net.named_parameters()}
    return {**dict(zip(said._fields, said[:5])), **slopes, **dict(net.named_buffers())}

assert triton_norm.serves(16) and triton_norm.serves(128) and not triton_norm.serves(22)
called = []
apply = triton_norm.NormAbove.apply
triton_norm.NormAbove.apply = lambda *given: called.append(given) or apply(*given)
plain, quick = passed(False), passed(True)
assert len(called) == 7, len(called)
for name, value in plain.items():
    torch.testing.assert_close(quick[name], value, rtol=1e-3, atol=1e-5, msg=name)
print("same")
"""


def test_the_whole_network_learns_the_same_by_triton_as_by_pytorch() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _COMPARE],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout == "same\n", told.stderr
