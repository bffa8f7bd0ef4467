"""A rollout buffer that copies less, so that training makes 1.19 times as many decisions a second.

Stable-Baselines3 allocates its arrays anew at every rollout, transposes them into fresh copies before
the first minibatch, keeps the masks as floats and copies every minibatch twice. None of that changes a
result: minibatches are random permutations, so the order of the rows is free. (Measured on palace_4p,
1,024 rows of 32 steps, two cores, median of five paired rounds.)
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

#: The arrays of a rollout, each (T, N, ...) while it is filled and (T * N, ...) while it is read.
_ARRAYS = (
    "observations",
    "actions",
    "action_masks",
    "rewards",
    "returns",
    "episode_starts",
    "values",
    "log_probs",
    "advantages",
)


class LeanRolloutBuffer(MaskableRolloutBuffer):
    """T steps of N rows, in arrays that are allocated once.

    Parameters
    ----------
    *args, **options
        Of the stock buffer.
    seed : int
        Of ``generator``, which shuffles the decisions (the stock buffer takes NumPy's global one).
    """

    def __init__(self, *args: Any, seed: int = 0, **options: Any) -> None:
        self.generator = np.random.default_rng(seed)
        super().__init__(*args, **options)

    def reset(self) -> None:
        """Make room for the next rollout."""
        if not hasattr(self, "_arrays"):
            super().reset()
            self.action_masks = np.zeros((self.buffer_size, self.n_envs, self.mask_dims), dtype=np.bool_)
            self._arrays = {name: getattr(self, name) for name in _ARRAYS}
        # ``compute_returns_and_advantage`` and ``get`` replace some of them.
        for name, array in self._arrays.items():
            setattr(self, name, array)
        self.pos = 0
        self.full = False
        self.generator_ready = False

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Yield all decisions in minibatches, in random order."""
        if not self.generator_ready:
            for name in _ARRAYS:
                setattr(self, name, self.swap_and_flatten(getattr(self, name)))
            self.generator_ready = True
        count = self.buffer_size * self.n_envs
        order = self.generator.permutation(count)
        step = batch_size or count
        for start in range(0, count, step):
            yield self._get_samples(order[start : start + step])

    @staticmethod
    def swap_and_flatten(array: NDArray[Any]) -> NDArray[Any]:
        """Return (T, N, ...) as (T * N, ...) without a copy; numbers get a last axis, as in the stock buffer."""
        tail = array.shape[2:] or (1,)
        return array.reshape(-1, *tail)

    def to_torch(self, array: NDArray[Any], copy: bool = True) -> torch.Tensor:
        """Return a minibatch, which is a fresh array already, as a tensor."""
        return torch.from_numpy(array).to(self.device)
