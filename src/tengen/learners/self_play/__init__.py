"""Networks that learn by self-play, from the rules alone; see `network` for designs and inputs."""
