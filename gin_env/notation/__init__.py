"""Writing down positions, deals and games, and reading them back: docs/records.md shows how."""
