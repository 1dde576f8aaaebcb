"""Figures of the formats: decode, encode, patch of the v100 `AicoreKernelSqe` (64 bytes, 28 named fields)."""

from __future__ import annotations

from typing import Any

import construct
import numpy as np

import formats
from formats.view import Window
from tools.bench.pairs import Pair, Side, UnequalError
from tools.bench.stock import dissect_struct, parsed, stock_construct

BULK = 1_000_000
PEER_BULK = 1_000
WINDOW = 8_192
STRUCT = formats.get("v100", "AicoreKernelSqe")


def _records(count: int) -> bytes:
    """Random records from a fixed seed."""
    return np.random.Generator(np.random.PCG64(1)).bytes(count * STRUCT.size)


def _same(what: str, left: object, right: object) -> None:
    if left != right:
        raise UnequalError(f"{what}: the two sides do not give the same result")


def _decoder(data: bytes) -> tuple[Window, int]:
    """A window over `data` and how many records it has."""
    return Window(STRUCT.view(data), WINDOW), len(data) // STRUCT.size


def _decode_all(data: bytes) -> Any:  # noqa: ANN401 - a call without arguments
    window, count = _decoder(data)

    def call() -> None:
        for lo in range(0, count, WINDOW):
            window.load(lo, min(lo + WINDOW, count))

    return call


def _check_decode(data: bytes) -> None:
    window, count = _decoder(data)
    window.load(0, count)
    stock = stock_construct(STRUCT)
    for i in range(count):
        want = parsed(stock.parse(data[64 * i : 64 * i + 64]), STRUCT)
        _same("decode", {name: int(window[name][i]) for name in want}, want)


def bulk_decode() -> tuple[Side, Side]:
    """R1: all fields of a million records, against `Array` of stock construct."""
    _check_decode(_records(200))
    few = _records(PEER_BULK)
    peer = construct.Array(PEER_BULK, stock_construct(STRUCT))
    return Side(lambda: peer.parse(few), PEER_BULK), Side(_decode_all(_records(BULK)), BULK)


def bulk_decode_dissect() -> tuple[Side, Side]:
    """R2: the same against an array of dissect.cstruct."""
    few = _records(PEER_BULK)
    peer = dissect_struct(STRUCT)
    first = peer(few[:64])
    _same("dissect", {n: int(getattr(first, n)) for n in ("block_dim", "task_id")}, _two(few))
    return Side(lambda: peer[PEER_BULK](few), PEER_BULK), Side(_decode_all(_records(BULK)), BULK)


def _two(data: bytes) -> dict[str, int]:
    values = STRUCT.parse(data[:64])
    return {n: values[n] for n in ("block_dim", "task_id")}


def bulk_decode_copy() -> tuple[Side, Side]:
    """R3: the same against copying the bytes."""
    data = _records(BULK)
    source = np.frombuffer(data, np.uint8)
    target = np.empty_like(source)
    return Side(lambda: np.copyto(target, source), BULK), Side(_decode_all(data), BULK)


def single_decode(*, compiled: bool) -> tuple[Side, Side]:
    """R4: one record through the generated codec."""
    one = _records(1)
    stock = stock_construct(STRUCT)
    record = STRUCT.codec.parse(one)
    want = parsed(stock.parse(one), STRUCT)
    _same("codec", {name: getattr(record, name) for name in want}, want)
    peer = stock.compile() if compiled else stock
    parse = STRUCT.codec.parse
    return Side(lambda: peer.parse(one), 1), Side(lambda: parse(one), 1)


def single_parse() -> tuple[Side, Side]:
    """R4: one record through `CStruct.parse`."""
    one = _records(1)
    stock = stock_construct(STRUCT)
    _same("parse", parsed(STRUCT.parse(one), STRUCT), parsed(stock.parse(one), STRUCT))
    return Side(lambda: stock.parse(one), 1), Side(lambda: STRUCT.parse(one), 1)


def single_build() -> tuple[Side, Side]:
    """R5: one record built by the codec."""
    zeroed = STRUCT.build(parsed(STRUCT.parse(_records(1)), STRUCT))
    stock = stock_construct(STRUCT)
    values = stock.parse(zeroed)
    record = STRUCT.codec.parse(zeroed)
    _same("build", STRUCT.codec.build(record), stock.build(values))
    build = STRUCT.codec.build
    return Side(lambda: stock.build(values), 1), Side(lambda: build(record), 1)


def bulk_encode() -> tuple[Side, Side]:
    """R5: a million records built from columns, range checks included."""
    count = 100_000
    data = STRUCT.view(_records(count))
    columns = {f.name: data[f.name] for f in STRUCT.named_fields}
    stock = stock_construct(STRUCT)
    built = bytes(STRUCT.encode_columns(columns, count))
    values = [stock.parse(built[64 * i : 64 * i + 64]) for i in range(PEER_BULK)]
    for i, each in enumerate(values[:50]):
        _same("encode", built[64 * i : 64 * i + 64], stock.build(each))
    peer = construct.Array(PEER_BULK, stock)
    return Side(lambda: peer.build(values), PEER_BULK), Side(lambda: STRUCT.encode_columns(columns, count), count)


def patch_field(field: str) -> tuple[Side, Side]:
    """R15: one field changed in a ring, old value kept, against parse, change, build of the record."""
    ring = bytearray(_records(1000))
    stock = stock_construct(STRUCT)
    bound = STRUCT.field(field).bind(ring)
    record = bytes(ring[:64])

    def rebuild() -> bytes:
        values = stock.parse(record)
        values[field] = 7
        return stock.build(values)

    old = bound.patch(0, 7)
    _same("patch", (bytes(ring[:64]), old), (rebuild(), stock.parse(record)[field]))
    patch = bound.patch
    indices = range(1000)

    def all_entries() -> None:
        for i in indices:
            patch(i, 7)

    return Side(rebuild, 1), Side(all_entries, len(indices))


CONSTRUCT = "stock construct, interpreted ByteSwapped(BitStruct)"

PAIRS = (
    Pair("R1", "bulk decode, all fields", f"{CONSTRUCT}, Array", 1000, 2500, bulk_decode, rounds=5),
    Pair("R2", "bulk decode, all fields", "dissect.cstruct, compiled, array", 300, 800, bulk_decode_dissect, rounds=5),
    Pair("R3", "bulk decode, all fields", "numpy.copyto of the same bytes", 0.2, 0.33, bulk_decode_copy, rounds=5),
    Pair("R4", "one record, codec", CONSTRUCT, 40, 60, lambda: single_decode(compiled=False)),
    Pair("R4-compiled", "one record, codec", "stock construct, compiled", 30, 40, lambda: single_decode(compiled=True)),
    Pair("R4-parse", "one record, CStruct.parse", CONSTRUCT, 10, 12, single_parse),
    Pair("R5", "build one record, codec", CONSTRUCT, 50, 80, single_build),
    Pair("R5-bulk", "bulk encode from columns", f"{CONSTRUCT}, Array", 600, 1200, bulk_encode, rounds=5),
    Pair("R15", "patch a 32-bit field", f"{CONSTRUCT}: rebuild", 900, 1600, lambda: patch_field("pc_addr_low")),
    Pair("R15-bits", "patch a bit field", f"{CONSTRUCT}: rebuild", 900, 1600, lambda: patch_field("kernel_credit")),
)
