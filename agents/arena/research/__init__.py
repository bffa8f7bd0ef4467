"""Research on cooperation in teams: unknown partners, ablations, and the information in trades (docs/research.md)."""
