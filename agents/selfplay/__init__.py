"""What self-play training needs beside Stable-Baselines3: opponents, rollout buffer, budget and callbacks."""
