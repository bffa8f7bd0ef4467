"""Research on team cooperation: partners never met, the channel taken away, what a trade tells (docs/research.md)."""
