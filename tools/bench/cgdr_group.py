"""Figures of the ChunkGatedDeltaRule kernel: share of sgemm, and what the device's arithmetic costs (R19, R20).

Both sides run in one process and one run: 16 key heads, 32 value heads of 128, no log file, no device queue - a launch
over device memory. Before anything is timed, each side meets the float64 recurrence on a launch of 256 tokens.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from emu_core.kernels import KernelLaunch
from emu_core.memory import DeviceMemory, TaskMemory
from emu_core.policies import PolicySet
from emu_plugins.accuracy import normalised_rms
from emu_plugins.cgdr.kernel import kernel_cost, run_float16
from emu_plugins.cgdr.policies import POLICIES
from emu_plugins.cgdr.reference import reference
from emu_plugins.cgdr.tiling import ShapeDims, tile
from tools.bench.cgdr_naive import chunked
from tools.bench.pairs import Pair, PeerMissingError, Side, UnequalError
from tools.given_plugins import make_host

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

KEY_HEADS, HEADS, WIDTH = 16, 32, 128
SCALE = WIDTH**-0.5
SGEMM = 2048
CHECKED_TOKENS = 256
LIMIT = 5e-4
CHIP = "ascend310p3"
INPUTS = ("query", "key", "value", "beta", "initial_state", "actual_seq_lengths", "g")
BLAS_VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def blas_text() -> str:
    """The BLAS behind numpy, and its variables as they were preset."""
    found = [f"{info['internal_api']} {info.get('architecture', '')}".strip() for info in threadpool_info()]
    preset = [f"{name}={os.environ[name]}" for name in BLAS_VARIABLES if name in os.environ]
    return f"{', '.join(sorted(set(found))) or 'unknown BLAS'}; preset: {', '.join(preset) or 'nothing'}"


@functools.cache
def inputs(tokens: int) -> Arrays:
    """Normalised q and k, normal values, beta a sigmoid, g uniform in (-1, 0), from a fixed seed."""
    rng = np.random.Generator(np.random.PCG64(1))

    def unit(*shape: int) -> NDArray[np.float16]:
        x = rng.standard_normal(shape, np.float32)
        unit_rows: NDArray[np.float16] = (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float16)
        return unit_rows

    def normal(*shape: int) -> NDArray[np.float32]:
        return rng.standard_normal(shape, np.float32)

    return {
        "query": unit(tokens, KEY_HEADS, WIDTH),
        "key": unit(tokens, KEY_HEADS, WIDTH),
        "value": normal(tokens, HEADS, WIDTH).astype(np.float16),
        "beta": (1 / (1 + np.exp(-1.5 * normal(tokens, HEADS)))).astype(np.float16),
        "initial_state": (0.3 * normal(1, HEADS, WIDTH, WIDTH)).astype(np.float16),
        "actual_seq_lengths": np.array([tokens], np.int32),
        "g": -rng.random((tokens, HEADS), np.float32),
    }


class Launch:
    """One launch over device memory of its own; calling it runs the kernel."""

    def __init__(self, arrays: Arrays, product: str) -> None:
        tokens = int(arrays["query"].shape[0])
        chip = make_host().chips[CHIP]
        self._memory = DeviceMemory(1 << 34)
        dims = ShapeDims(tokens, KEY_HEADS, WIDTH, HEADS, WIDTH, 1)
        tiling = tile(dims, cores=chip.tiling_cores, ub_bytes=chip.ub_bytes, has_gamma=True, scale_value=SCALE)
        words = [self._place(arrays[name]) for name in INPUTS]
        self._out = self._place(np.zeros_like(arrays["value"]))
        self._shape = arrays["value"].shape
        words += [self._out, self._place(np.zeros_like(arrays["initial_state"]))]
        words += [self._memory.allocate(tiling.workspace, label="workspace").address]
        words += [self._place(np.frombuffer(tiling.tiling_data(), np.uint8))]
        args = self._place(np.array(words, "<u8"))
        policies = PolicySet(POLICIES, {"cgdr.product": product})
        self._launch = KernelLaunch(TaskMemory(self._memory), args, tiling.block_dim, tiling.tiling_key, chip, policies)

    def _place(self, array: NDArray[Any]) -> int:
        address = self._memory.allocate(array.nbytes, label="bench").address
        self._memory.write(address, array.tobytes())
        return address

    def __call__(self) -> None:
        """Run the kernel once."""
        run_float16(self._launch)

    @property
    def flops(self) -> int:
        """Operations of the chunk products."""
        return kernel_cost(self._launch).flops

    def out(self) -> NDArray[np.float16]:
        """What the last call wrote."""
        size = 2 * int(np.prod(self._shape))
        return np.frombuffer(self._memory.read(self._out, size), np.float16).reshape(self._shape)


@functools.cache
def launch(tokens: int, product: str) -> Launch:
    """A launch whose first tokens were compared with the recurrence."""
    made = Launch(inputs(tokens), product)
    made()
    check(f"cgdr {product}", made.out())
    return made


@functools.cache
def _expected() -> NDArray[np.float64]:
    return reference(inputs(CHECKED_TOKENS), SCALE)["out"]


def check(what: str, out: NDArray[Any]) -> None:
    """Refuse to measure what does not meet the recurrence; only possible for the tokens it was run on."""
    if out.shape[0] != CHECKED_TOKENS:
        return
    error = normalised_rms(out, _expected())
    if not error <= LIMIT:
        raise UnequalError(f"{what}: error {error:.2e} against the float64 recurrence, limit {LIMIT:g}")


def _product(tokens: int, product: str) -> Launch:
    """The launch to time; the same code on fewer tokens was checked first."""
    launch(CHECKED_TOKENS, product)
    return launch(tokens, product)


def share_of_sgemm(tokens: int) -> tuple[Side, Side]:
    """R19: operations per second of the float32 form against a large product of numpy."""
    left, right = (np.random.Generator(np.random.PCG64(i)).random((SGEMM, SGEMM), np.float32) for i in (1, 2))
    out = np.empty_like(left)
    run = _product(tokens, "fp32")
    return Side(lambda: np.matmul(left, right, out=out), 2 * SGEMM**3), Side(run, run.flops)


def against_naive(tokens: int) -> tuple[Side, Side]:
    """R19: the float32 form against the chunked form written with whole-array numpy calls.

    The peer runs with one BLAS thread. With two its many small products spin against each other as soon as anybody
    else uses the machine, and it has been seen thirty times slower; a figure against that would flatter the kernel.
    """
    check("naive", chunked(inputs(CHECKED_TOKENS), SCALE))
    arrays = inputs(tokens)

    def peer() -> None:
        with threadpool_limits(1, user_api="blas"):
            chunked(arrays, SCALE)

    return Side(peer, tokens), Side(_product(tokens, "fp32"), tokens)


def cost(product: str, tokens: int) -> tuple[Side, Side]:
    """R20: the device's arithmetic against the float32 form."""
    return Side(_product(tokens, "fp32"), tokens), Side(_product(tokens, product), tokens)


def linear(tokens: int, more: int) -> tuple[Side, Side]:
    """Time per token of `more` tokens against that of `tokens`."""
    return Side(_product(tokens, "two_term"), tokens), Side(_product(more, "two_term"), more)


def against_transformers(product: str, tokens: int) -> tuple[Side, Side]:
    """R19, R20: against `torch_chunk_gated_delta_rule` of transformers, on the processor."""
    function = _transformers_function()
    check("transformers", _called(function, inputs(CHECKED_TOKENS))())
    return Side(_called(function, inputs(tokens)), tokens), Side(_product(tokens, product), tokens)


def _transformers_function() -> Callable[..., Any]:
    try:
        importlib.import_module("torch")
        module = importlib.import_module("transformers.models.qwen3_next.modeling_qwen3_next")
    except ImportError:
        raise PeerMissingError("torch or transformers (4.57 or later) is not installed; pip install them") from None
    return module.torch_chunk_gated_delta_rule  # type: ignore[no-any-return]


def _called(function: Callable[..., Any], arrays: Arrays) -> Callable[[], NDArray[Any]]:
    torch: Any = importlib.import_module("torch")

    def tensor(name: str, repeats: int = 1) -> Any:  # noqa: ANN401 - a tensor of an optional peer
        return torch.from_numpy(np.repeat(arrays[name], repeats, axis=1).astype(np.float32))[None]

    ratio = HEADS // KEY_HEADS
    query, key = tensor("query", ratio), tensor("key", ratio)
    value, beta, g = tensor("value"), tensor("beta"), tensor("g")
    state = torch.from_numpy(arrays["initial_state"].astype(np.float32)).transpose(2, 3).contiguous()

    def call() -> NDArray[Any]:
        found = function(query, key, value, g=g, beta=beta, initial_state=state, output_final_state=True)
        return np.asarray(found[0][0])

    return call


_SGEMM = f"numpy.matmul {SGEMM}x{SGEMM} ({blas_text()})"
_NAIVE = "chunked form in plain numpy, one BLAS thread"
_FP32 = "the float32 form"
_TRANSFORMERS = "transformers' torch_chunk_gated_delta_rule"

PAIRS = (
    Pair("R19", "cgdr fp32, T 1024: share of sgemm", _SGEMM, 0.33, 0.50, lambda: share_of_sgemm(1024), rounds=5),
    Pair("R19-4096", "cgdr fp32, T 4096: share of sgemm", _SGEMM, 0.33, 0.50, lambda: share_of_sgemm(4096), rounds=3),
    Pair("R19-8192", "cgdr fp32, T 8192: share of sgemm", _SGEMM, 0.33, 0.50, lambda: share_of_sgemm(8192), rounds=3),
    Pair("R19-naive", "cgdr fp32, T 4096", _NAIVE, 2.5, 4.5, lambda: against_naive(4096), rounds=3),
    Pair("R19-hf", "cgdr fp32, T 1024", _TRANSFORMERS, 2, 3, lambda: against_transformers("fp32", 1024), rounds=5),
    Pair(
        "R20", "cost of plain_fp16, T 1024", _FP32, 2.5, 1.5, lambda: cost("plain_fp16", 1024), rounds=5, largest=True
    ),
    Pair(
        "R20-two-term", "cost of two_term, T 1024", _FP32, 3, 2, lambda: cost("two_term", 1024), rounds=5, largest=True
    ),
    Pair(
        "R20-linear", "two_term: time per token, T 8192", "the same, T 1024", 1.3, 1, lambda: linear(1024, 8192),
        rounds=3, largest=True,
    ),
    Pair(
        "R20-hf", "cgdr two_term, T 1024", _TRANSFORMERS, 1, 2, lambda: against_transformers("two_term", 1024), rounds=5
    ),
)  # fmt: skip
