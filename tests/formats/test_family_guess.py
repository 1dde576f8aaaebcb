"""The family of SQEs that nobody labelled."""

from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import BUILTIN


def entry(family, name, **values):
    """One entry."""
    return BUILTIN.get(family, name).build(values)


V100 = (
    entry("v100", "PhSqe", type=3, task_type=103, kernel_credit=254, rt_stream_id=1, task_id=1)
    + entry("v100", "EventWaitSqe", type=5, event_id=3, kernel_credit=255, rt_stream_id=1, task_id=2)
    + entry("v100", "AicoreKernelSqe", block_dim=8, kernel_credit=254, wrr_ratio=1, pc_addr=0x12C0C0200000, ns=1)
)
V200 = (
    entry("v200", "PhSqe", type=3, task_type=103, kernel_credit=253, task_id=1)
    + entry("v200", "NotifyWaitSqe", type=7, notify_id=3, clr_flag=1, sub_type=1, kernel_credit=255, task_id=2)
    + entry("v200", "AicKernelSqe", block_dim=8, kernel_credit=253, group_dim=2, group_block_dim=4, aic_part_id=3)
)


def test_a_v100_ring():
    """Credits of 254 and place holders with the task type in word 0 speak for v100."""
    guess = formats.guess_family(V100)
    assert (guess.family, guess.confidence) == ("v100", 1.0)
    assert "3 entries" in guess.reason


def test_a_v200_ring():
    """Credits of 253 and the task type in word 3 speak for v200; v201 fits as well, so v200 is named."""
    guess = formats.guess_family(V200 + bytes(64))
    assert (guess.family, guess.confidence) == ("v200", 1.0)


def test_arch9201_is_named_when_something_speaks_for_it():
    """`log_en` and prefetch counts are reserved bits on v200."""
    data = entry("arch9201", "AicKernelSqe", block_dim=4, kernel_credit=254, log_en=1, group_dim=2, group_block_dim=2)
    assert formats.guess_family(data).family == "arch9201"


def test_a_stray_bit_does_not_make_another_family():
    """A v100 kernel with a reserved bit set is still v100: its words 2 hold no groups for its blocks."""
    dirty = bytearray(entry("v100", "AicoreKernelSqe", block_dim=8, kernel_credit=254, wrr_ratio=1))
    dirty[24] = 1
    assert formats.guess_family(dirty).family == "v100"


def test_empty_entries_say_nothing():
    """Zeros have no family; the first one is given with no confidence."""
    assert formats.guess_family(bytes(128))[:2] == ("v100", 0.0)
    assert formats.guess_family(b"")[:2] == ("v100", 0.0)


def _plugin_family():
    """A family as a plugin adds one: types without names, no known credits; type 5 has a layout."""
    header = "@0 type:6 -:10 task_id:16\n@4 -:32"
    made = {"enums": {"type": ""}}
    return BUILTIN.extend(
        [
            formats.define("mine", "CommonSqe", 64, header, "@8 payload:32*14", **made),
            formats.define(
                "mine", "GoSqe", 64, header, "@8 where:64\n@16 -:32*12", sqe_type=5, match={"type": (5,)}, **made
            ),
        ]
    )


def test_a_family_of_a_plugin_is_guessed_like_the_others():
    """Its own entries are all it could be; built-in entries stay what they are; empty ones say nothing."""
    registry = _plugin_family()
    mine = registry.get("mine", "GoSqe").build({"type": 5, "task_id": 3, "where": 0x1234_5678_9ABC})
    assert registry.guess_family(mine * 3)[:2] == ("mine", 1.0)
    assert registry.guess_family(V100)[:2] == ("v100", 1.0)
    assert registry.guess_family(V200)[:2] == ("v200", 1.0)
    assert registry.guess_family(bytes(64))[:2] == ("v100", 0.0)


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_get_an_answer(data):
    """The confidence is between 0 and 1 whatever the bytes are."""
    guess = formats.guess_family(data)
    assert guess.family in BUILTIN.sqe_families
    assert 0 <= guess.confidence <= 1
