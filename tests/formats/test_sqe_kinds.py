"""Every kind of SQE is recognised by the bits that make it one, and the worked examples of the reference decode."""

import itertools

import pytest

import formats
from formats import BUILTIN

FAMILIES = BUILTIN.sqe_families


def matched(family):
    """Structs of a family that a rule recognises."""
    structs = (BUILTIN.get(family, name) for name in BUILTIN.names(family))
    return [s for s in structs if s.match and s.size == 64]


CASES = [
    (family, s, dict(zip(s.match, values, strict=True)))
    for family in FAMILIES
    for s in matched(family)
    for values in itertools.product(*s.match.values())
]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_kind_is_recognised_by_its_match(family):
    """An entry with nothing but the bits of its rule decodes as that kind, unless a narrower kind has them too."""
    for fam, s, values in CASES:
        if fam != family:
            continue
        found = formats.decode(family, s.build(values))
        if found.struct is not s:
            assert len(found.struct.match) > len(s.match), (s, values, found)
            assert all(v in found.struct.match.get(k, (v,)) for k, v in values.items()), (s, values, found)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_64_byte_sqe_of_a_known_number_is_recognised_or_listed(family):
    """Kinds that no bits tell apart are exactly those the documentation calls layout only or declared only."""
    silent = {
        s.struct_name
        for s in (BUILTIN.get(family, n) for n in BUILTIN.names(family))
        if s.size == 64 and s.sqe_type is not None and not s.match
    }
    v100 = {
        "FftsKernelSqeLegacy", "AicpuKernelSqeDriverView", "TopicSchedSqe", "DsaSqeDriverView", "LiteSdmaSqe",
        "LiteRdmaSqe", "StreamResetHeadSqe", "LabelGotoSqe",
    }  # fmt: skip
    expected = {"v100": v100, "arch5162": set()}.get(family, {"AicpuDqsSqe"})
    assert silent == expected


WORKED = [
    (
        "v100",
        "0300670001000200000000000000fe00" + "00" * 48,
        "PhSqe",
        {"type": 3, "task_type": 103, "rt_stream_id": 1, "task_id": 2, "kernel_credit": 254},
    ),
    (
        "v100",
        "0600000004000700150000000000fe00" + "00" * 48,
        "NotifyRecordSqe",
        {"rt_stream_id": 4, "task_id": 7, "notify_id": 21, "kernel_credit": 254},
    ),
    (
        "v100",
        (
            "0000080003000900001000000000fe00"
            "00000040000000000000000004000000"
            "000020c0c012000000003041c0120000"
            "00000000000000000000000000000000"
        ),
        "AicoreKernelSqe",
        {"block_dim": 8, "wrr_ratio": 1, "ns": 1, "pc_addr": 0x12C0C0200000, "param_addr": 0x12C041300000},
    ),
    (
        "v100",
        (
            "0800000004000800000000000000fe00"
            "10000041c01220820000000000000000"
            "44332211000000000000000000000000"
            "00000000000000000000000000000000"
        ),
        "WriteValueSqe",
        {"write_addr": 0x12C041000010, "write_value_part0": 0x11223344, "awsize": 2, "va": 1, "awcache": 2},
    ),
    (
        "v200",
        "070000004d000000150000800100ff00" + "00000000000000000a00000000000000" + "00" * 32,
        "NotifyWaitSqe",
        {"task_id": 77, "notify_id": 21, "timeout": 10, "clr_flag": 1, "sub_type": 1, "kernel_credit": 255},
    ),
]


@pytest.mark.parametrize(("family", "text", "name", "values"), WORKED, ids=lambda x: x if isinstance(x, str) else "")
def test_worked_examples(family, text, name, values):
    """The five full entries of the reference (section 13) have the kind and the values it states, without doubt."""
    found = formats.decode(family, bytes.fromhex(text))
    shown = found.struct.join(found.values)
    assert found.struct.struct_name == name
    assert {k: shown[k] for k in values} == values
    assert (found.guessed, found.notes) == (False, ())


@pytest.mark.parametrize(
    ("family", "entry", "name"),
    [
        ("v100", {"type": 0, "ffts_type": 4}, "FftsPlusSqe"),
        ("v100", {"type": 0, "ffts_type": 0, "cmo": 1, "cmo_type": 2}, "CmoKernelSqe"),
        ("v100", {"type": 0, "ffts_type": 0, "cmo": 1, "cmo_type": 0}, "BarrierKernelSqe"),
        ("v100", {"type": 1, "topic_id": 5, "cmd_type": 13}, "AicpuControlTimeoutSqe"),
        ("v100", {"type": 1, "topic_id": 26}, "HostfuncCallbackSqe"),
        ("v100", {"type": 8, "ptr_mode": 1}, "WriteValuePtrSqe"),
        ("v100", {"type": 20, "conds_sub_type": 3}, "RdmaSinkSqe2"),
        ("v200", {"type": 10, "is_converted": 1}, "PcieDmaSqe"),
        ("v200", {"type": 10, "mode": 0}, "AsyncDmaSqe"),
        ("v200", {"type": 11, "stride": 2}, "MemcpyTwoDimSqe"),
        ("v200", {"type": 11, "ptr_mode": 1}, "MemcpyPtrSqe"),
        ("v200", {"type": 3, "task_type": 72}, "PhHostfuncCallbackSqe"),
        ("v201", {"type": 15, "stride": 1}, "CmoStrideSqe"),
        ("arch9201", {"type": 1, "log_en": 1}, "AivKernelSqe"),
        ("arch5162", {"type": 3, "sqe_sub_type": 20}, "PhMemcpyAsyncSqe"),
    ],
)
def test_sub_types_and_modes_lead_to_the_layout(family, entry, name):
    """Topic, pointer mode, cmo bit, sub type and addressing mode tell kinds of one type apart."""
    found = formats.decode(family, BUILTIN.get(family, name).build(entry))
    assert found.struct is BUILTIN.get(family, name)
    assert not found.guessed


def test_arch5162_has_a_generic_form():
    """An unknown type of arch5162 decodes as header and words, like everywhere."""
    found = formats.decode("arch5162", bytes([50]) + bytes(63))
    assert (found.struct.struct_name, found.guessed) == ("CommonSqe", True)
    assert found.notes[0].startswith("type 50 (not a known type)")
