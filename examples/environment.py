"""One game of the environment against the random player."""

import gymnasium

import tengen.environment

gymnasium.register_envs(tengen.environment)
env = gymnasium.make("Tengen/Go9x9-v0", opponent="random", render_mode="ansi")
observation, info = env.reset(seed=1)
over = False
while not over:
    action = env.action_space.sample(observation["action_mask"])
    observation, reward, terminated, truncated, info = env.step(action)
    over = terminated or truncated
print(env.render(), f"\nreward {reward}, score {info['score']}")
