"""From an entry to what it points at, through a reader of device memory."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import BUILTIN, FormatError
from formats.follow import follow

BASE = 0x12C000000000


def memory(**blocks):
    """A reader over blocks at `BASE` plus the number in their name: `at_256=b"..."`."""
    placed = {BASE + int(name.removeprefix("at_")): data for name, data in blocks.items()}

    def read(address, size):
        for start, data in placed.items():
            if start <= address < start + len(data):
                return data[address - start : address - start + size]
        return None

    return read


def entry(family, name, **values):
    """One decoded entry."""
    return formats.decode(family, BUILTIN.get(family, name).build(values))


def test_an_ffts_plus_entry_leads_to_its_contexts():
    """Two contexts of 128 bytes lie one after another at the context base."""
    sqe = entry("v100", "FftsPlusSqe", ffts_type=4, total_context_num=2, context_address_base=BASE)
    mix = formats.get("v100", "FftsPlusMixAicAivCtx").build({"context_type": 6, "non_tail_block_dim": 12})
    label = formats.get("v100", "FftsPlusLabelCtx").build({"context_type": 0x500})
    first, second = follow(sqe, memory(at_0=mix + label))
    assert (first.role, first.address, first.record.struct.struct_name) == ("context 0", BASE, "FftsPlusMixAicAivCtx")
    assert first.record.values["non_tail_block_dim"] == 12
    assert (second.address, second.record.struct.struct_name) == (BASE + 128, "FftsPlusLabelCtx")


def test_a_v100_update_leads_to_key_block_dim_and_table():
    """Rows have 32 bytes; a descriptor of all ones is none."""
    sqe = entry(
        "v100", "PhModelTaskUpdateSqe", type=3, task_type=101, desc_buf_offset=(1 << 64) - 1,
        tiling_key_offset=BASE, block_dim_offset=BASE + 128, tiling_tab_offset=BASE + 256, tiling_tab_len=2,
    )  # fmt: skip
    row = formats.get("v100", "TilingTabl")
    table = row.build({"tiling_key": 10, "pc_addr0": 0x1000}) + row.build({"tiling_key": 20, "pc_addr0": 0x2000})
    cells = (291).to_bytes(8, "little") + bytes(120) + (40).to_bytes(8, "little") + bytes(120)
    found = follow(sqe, memory(at_0=cells, at_256=table))
    assert [f.role for f in found] == ["tiling key", "block dim", "tiling table row 0", "tiling table row 1"]
    assert [f.record.values["value"] for f in found[:2]] == [291, 40]
    assert [f.record.values["pc_addr0"] for f in found[2:]] == [0x1000, 0x2000]
    assert found[3].address == BASE + 256 + 32


def test_an_update_of_a_mix_kernel_leads_to_its_context():
    """A descriptor buffer that is given comes first."""
    sqe = entry("v100", "PhModelTaskUpdateSqe", type=3, task_type=101, desc_buf_offset=BASE)
    found = follow(sqe, memory(at_0=b"\x06" + bytes(127)))
    assert found[0].record.struct.struct_name == "FftsPlusMixAicAivCtx"


def test_a_v200_update_has_rows_of_40_bytes():
    """The David table is longer, and there is no descriptor."""
    sqe = entry("v200", "PhModelTaskUpdateSqe", type=3, task_type=101, tiling_tab_offset=BASE, tiling_tab_len=2)
    found = follow(sqe, memory(at_0=bytes(80)))
    assert [f.address for f in found[2:]] == [BASE, BASE + 40]
    assert found[2].record.struct.struct_name == "TilingTablForDavid"


def test_descriptors_and_programs():
    """Pointer-mode writes and copies lead to descriptors, a function call to its program."""
    write = entry("v100", "WriteValuePtrSqe", type=8, ptr_mode=1, write_addr=BASE)
    assert follow(write, memory(at_0=bytes(64)))[0].record.struct.struct_name == "WriteValuePtrDst"
    copy = entry("v100", "MemcpyAsyncPtrSqe", type=11, ptr_mode=1, sdma_sqe_base_addr=BASE)
    assert [f.record.struct.struct_name for f in follow(copy, memory(at_0=bytes(32)))] == [
        "SdmaDescHead",
        "MemcpyAddrInfo",
    ]
    david = entry("v200", "MemcpyPtrSqe", type=11, ptr_mode=1, sdma_sqe_base_addr=BASE)
    body = formats.get("v200", "MemcpyLinearSqe").build({"type": 11})
    assert follow(david, memory(at_0=body))[0].record.struct.struct_name == "MemcpyLinearSqe"
    new = entry("v200", "WriteValuePtrSqe", type=8, ptr_mode=1, write_value_new_sqe_addr=BASE)
    assert follow(new, memory(at_0=bytes(64)))[0].record.struct.struct_name == "RawUnit"
    call = entry(
        "v100", "FunctionCallSqe", type=20, conds_sub_type=6,
        llwi1_immd_high=BASE >> 32, llwi1_immd_low=BASE & 0xFFFFFFFF, llwi2_immd_low=3,
    )  # fmt: skip
    (program,) = follow(call, memory(at_0=bytes(12)))
    assert (program.role, program.address, program.record.size) == ("program", BASE, 12)
    part, rest = follow(call, memory(at_0=bytes(12)), limit=2)
    assert (part.record.size, rest.address, rest.note) == (8, BASE + 8, "1 more words are not shown (limit 2)")
    assert follow(entry("v100", "FunctionCallSqe", type=20, conds_sub_type=6), memory()) == ()


def test_what_cannot_be_read_is_said():
    """No memory and too little memory give a note in the place of a record."""
    sqe = entry("v100", "FftsPlusSqe", ffts_type=4, total_context_num=2, context_address_base=BASE)
    first, second = follow(sqe, memory(at_0=bytes(130)))
    assert first.record is not None
    assert (second.record, second.note) == (None, "128 bytes are needed, 2 bytes can be read there")
    assert follow(sqe, lambda _a, _n: None)[0].note == "128 bytes are needed, nothing can be read there"


def test_the_limit_bounds_what_a_damaged_count_can_cost():
    """65535 claimed contexts with a limit of 2 give two records and a remark."""
    sqe = entry("v100", "FftsPlusSqe", ffts_type=4, total_context_num=65535, context_address_base=BASE)
    found = follow(sqe, lambda _a, n: bytes(n), limit=2)
    assert [f.role for f in found] == ["context 0", "context 1", "context"]
    assert found[2].note == "65533 more are not shown (limit 2)"
    with pytest.raises(FormatError, match="negative"):
        follow(sqe, lambda _a, n: bytes(n), limit=-1)


def test_other_kinds_point_at_nothing_known():
    """A kernel's argument block has no layout of its own."""
    assert follow(entry("v100", "AicoreKernelSqe", param_addr=BASE), lambda _a, n: bytes(n)) == ()


@settings(max_examples=100, deadline=None)
@given(family=st.sampled_from(BUILTIN.sqe_families), data=st.binary(min_size=64, max_size=64), have=st.integers(0, 200))
def test_any_entry_can_be_followed(family, data, have):
    """Whatever the entry says, following ends and gives only records or notes."""
    found = follow(formats.decode(family, data), lambda _a, n: bytes(min(n, have)), limit=8)
    assert all((f.record is None) == bool(f.note) for f in found)
