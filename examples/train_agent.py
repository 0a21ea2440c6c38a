"""Train an agent on 5x5 against the random player by policy gradients, 64 games at once."""

import sys

import numpy as np
import torch
from torch import nn

from tengen.environment import GoVectorEnv

torch.manual_seed(1)
envs = GoVectorEnv(64, 5, opponent="random", komi=0.5, max_plies=50)
policy = nn.Sequential(nn.Flatten(), nn.Linear(150, 64), nn.ReLU(), nn.Linear(64, 26))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
seen = envs.reset(seed=1)[0]
for update in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
    steps, results = [], []
    for _step in range(30):
        legal = torch.as_tensor(seen["action_mask"] > 0)
        logits = policy(torch.as_tensor(seen["observation"])).masked_fill(~legal, -1e9)
        chosen = torch.distributions.Categorical(logits=logits)
        actions = chosen.sample()
        seen, rewards, ended, cut, info = envs.step(actions.numpy())
        steps.append((chosen.log_prob(actions), rewards, ended | cut))
        results += rewards[ended | cut].tolist()
    gain, loss, mean = np.zeros(64), torch.zeros(()), float(np.mean(results))
    for log_prob, rewards, over in reversed(steps):
        gain = np.where(over, rewards - mean, gain)
        loss = loss - (log_prob * torch.as_tensor(gain)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 9:
        print(f"update {update + 1}: wins {(mean + 1) / 2:.0%}", flush=True)
