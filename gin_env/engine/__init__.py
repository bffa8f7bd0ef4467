"""The engine: N deals at once, their state, what is legal, and what each action does.

Where to find, and where to add:

- ``actions.py``: the verbs, their indices and the action bitmasks.
- ``state.py``: one array for every fact of a deal.
- ``dealing.py``: cards laid out for a new deal.
- ``legal.py``: what is legal in each phase.
- ``engine.py``: what each verb does; ``trading.py`` and ``knocking.py`` hold its larger rules.
- ``settlement.py``: the end of a deal; ``game_score.py`` and ``next_dealer.py``: the game around it.
- ``boasting.py``, ``catching.py``, ``last_discard.py``, ``hollywood.py``, ``two_tables.py``: optional rules, one module
  each. A new one is called from one line of the module that it changes (``legal.py``, ``engine.py``,
  ``game_score.py``), and gets its arrays in ``state.py`` and its verb, if any, in ``actions.py``.
"""

from __future__ import annotations

from gin_env.engine.actions import ActionLayout, action_layout
from gin_env.engine.engine import Engine
from gin_env.engine.sampling import random_actions
from gin_env.engine.state import Phase, State

__all__ = ["ActionLayout", "Engine", "Phase", "State", "action_layout", "random_actions"]
