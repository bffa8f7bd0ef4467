"""Many matches: options, blocks, workers, the results folder and the tables."""
