"""Training by self-play: the trainer, opponents, behaviour cloning, evaluation, runs and best responses."""
