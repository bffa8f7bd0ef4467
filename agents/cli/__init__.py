"""Shared by the command lines: parsing, clear errors, optional dependencies, agent names and folder locks."""

from __future__ import annotations

from agents.cli.parsing import UserError, parse, run

__all__ = ["UserError", "parse", "run"]
