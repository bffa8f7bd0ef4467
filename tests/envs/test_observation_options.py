"""Every environment takes its observation options as one object, or as flags for short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gin_env
from gin_env import ObservationOptions


def gin_vec_env(rules: str, **options: Any) -> Any:
    pytest.importorskip("stable_baselines3")
    from gin_env.envs.sb3 import GinVecEnv

    return GinVecEnv(rules, **options)


def vector_env(rules: str, **options: Any) -> Any:
    return gin_env.GinRummyVectorEnv(2, rules, **options)


ENTRY_POINTS = {
    "raw_env": gin_env.raw_env,
    "env": gin_env.env,
    "parallel_env": gin_env.parallel_env,
    "gymnasium": gin_env.GinRummySingleEnv,
    "gymnasium vector": vector_env,
    "stable_baselines3": gin_vec_env,
}
make_each = pytest.mark.parametrize("make", ENTRY_POINTS.values(), ids=ENTRY_POINTS.keys())
Make = Callable[..., Any]


def options_of(env: Any) -> ObservationOptions:
    encoder = env.encoder if hasattr(env, "encoder") else env.unwrapped.encoder
    return encoder.options


@make_each
@pytest.mark.parametrize(
    "flags",
    [{}, {"derived": True, "showdown": True}, {"buried_pile": False}, {"outlook": True}, {"outlook": False}],
)
def test_flags_are_short_for_the_options(make: Make, flags: dict[str, bool]) -> None:
    options = ObservationOptions(**flags)
    by_flags, by_object = make("palace_4p", **flags), make("palace_4p", observation=options)
    assert options_of(by_flags) == options_of(by_object) == options


@make_each
def test_options_and_flags_together_are_refused(make: Make) -> None:
    with pytest.raises(ValueError, match=r"observation and derived, outlook"):
        make("palace_4p", observation=ObservationOptions(), derived=True, outlook=False)


@make_each
@pytest.mark.parametrize("wrong", [{"derived": True}, "derived", True])
def test_options_of_another_kind_are_refused(make: Make, wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"observation.*ObservationOptions, got "):
        make("palace_4p", observation=wrong)


@make_each
def test_a_flag_must_be_true_or_false(make: Make) -> None:
    with pytest.raises(ValueError, match=r"derived.*1"):
        make("palace_4p", derived=1)
