"""Fuzz targets: each parser raises `FormatError` or nothing, whatever the bytes are. See `.ci/fuzz`."""

from __future__ import annotations

import contextlib
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import atheris

with atheris.instrument_imports(include=["formats"]):
    import formats
    from formats import blob, completion, cond_isa
    from formats.blob.layout import BlobHeader
    from formats.follow import follow

if TYPE_CHECKING:
    from collections.abc import Callable

FAMILIES = ("v100", "v200", "v201", "arch9201", "arch5162")


def _family(data: bytes) -> tuple[str, bytes]:
    return FAMILIES[data[0] % len(FAMILIES)] if data else FAMILIES[0], data[1:]


def stream(data: bytes) -> None:
    """SQE streams of any family, and the guess of the family."""
    family, rest = _family(data)
    for decoded in formats.decode_stream(family, rest):
        decoded.raw()
    formats.guess_family(rest)


def task_blob(data: bytes) -> None:
    """Task blobs; every other one gets the checksum it should have."""
    whole = bytearray(data)
    if len(whole) > BlobHeader.size and whole[-1] & 1:
        checksum = BlobHeader.field("crc32")
        checksum.patch(whole, 0, 0)
        checksum.patch(whole, 0, zlib.crc32(whole))
    blob.sections(bytes(whole), check_crc=False)
    blob.decode(bytes(whole))


def contexts(data: bytes) -> None:
    """FFTS+ contexts, and following addresses into made-up memory."""
    formats.decode_context(data[:128])
    found = formats.decode("v100", data[:64])
    follow(found, lambda _address, size: data[:size].ljust(size, b"\0") if size < 1 << 20 else None)


def conditions(data: bytes) -> None:
    """Condition programs: disassembling, and assembling the text again."""
    family, rest = _family(data)
    text = "\n".join(str(instruction) for instruction in cond_isa.disassemble(rest[: len(rest) // 4 * 4], family))
    cond_isa.assemble(text, family)


def completions(data: bytes) -> None:
    """Completion entries of both families."""
    completion.decode_cqe("v100", data[:16])
    completion.decode_cqe("v200", data[:32])


TARGETS: dict[str, Callable[[bytes], None]] = {
    "stream": stream,
    "task_blob": task_blob,
    "contexts": contexts,
    "conditions": conditions,
    "completions": completions,
}


def seeds() -> dict[str, bytes]:
    """A well-formed input per target that needs one."""
    small = blob.Blob(
        chip="ascend310p3",
        name="seed",
        streams=(blob.BlobStream(0, "main"),),
        events=(blob.BlobEvent(0, "e"),),
        tasks=(blob.BlobTask(blob.TaskType.ALL_KERNEL, 0, op=0, kernel=0, args_format="{i0*}{o0*}{ws0*}"),),
        ops=(blob.BlobOp("op", "Type", (0,), (1,), (64,), {"a": 1.5, "b": (1, 2)}),),
        tensors=(
            blob.BlobTensor("x", 0, (2,), blob.TensorRole.CONSTANT, 8, bytes(8)),
            blob.BlobTensor("y", 0, (2,), blob.TensorRole.INTERMEDIATE, 8),
        ),
        kernels=(blob.BlobKernel("k", 0, (0, 1)),),
        outputs=(1,),
    )
    return {"task_blob": blob.encode(small)}


def _only_format_errors(target: Callable[[bytes], None]) -> Callable[[bytes], None]:
    def call(data: bytes) -> None:
        with contextlib.suppress(formats.FormatError):
            target(data)

    return call


def main() -> None:
    """Run the target named first on the corpus folder named second; `--list` prints the names."""
    if sys.argv[1] == "--list":
        print("\n".join(TARGETS))
        return
    name = sys.argv.pop(1)
    if name in seeds():
        Path(sys.argv[1], "seed").write_bytes(seeds()[name])
    target = TARGETS[name]
    atheris.Setup(sys.argv, atheris.instrument_func(_only_format_errors(target)))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
