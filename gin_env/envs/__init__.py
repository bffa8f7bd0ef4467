"""The environments of other libraries: PettingZoo, Gymnasium and Stable-Baselines3."""
