"""Task update on its three layers: what is checked, in which order, what a refused call leaves behind (S1 to S14)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import LimitError, Refusal
from emu_plugins.runtime import Capability, Feature, Firmware, ModelTaskUpdate, Module, RuntimeApiError, TaskUpdateInfo
from emu_plugins.runtime.host.c_api import acl_task_update_async, rt_model_task_update, rts_launch_update_task

B3, P3, DAVID = "ascend910b3", "ascend310p3", "ascend950pr_9599"
OLD_FIRMWARE = Firmware(features=frozenset())


def info_of(bench, **changes):
    """Information of the middle and the public call for the same update."""
    para = bench.para
    given = {
        "id": 2,
        "bin_handle": para["hdl"],
        "func_entry_addr": para["tiling_key_addr"],
        "block_dim_addr": para["block_dim_addr"],
    }
    return {**given, **changes}


def snapshot(bench):
    """Everything a refused call must leave as it was: entries of both rings, live memory."""
    rings = [stream.core.queue.tail for stream in (bench.work, bench.side)]
    return rings, sorted(a.address for a in bench.device.memory.allocations())


def test_s1_unbound_streams(bound):
    """With firmware that knows the feature, streams that are bound to no model give 107005."""
    bench = bound(B3, bind=False)
    before = snapshot(bench)
    assert rt_model_task_update(bench.work, 0, bench.side, bench.para) == 107005
    assert snapshot(bench) == before


@pytest.mark.parametrize("bind_work", [True, False])
def test_s1_one_of_them_is_not_enough(bound, bind_work):
    """Destination and executing stream must both be bound."""
    bench = bound(B3, bind=False)
    bench.runtime.bind_stream(bench.model, bench.work if bind_work else bench.side)
    status = rt_model_task_update(bench.work, 0, bench.side, bench.para)
    assert status == 107005
    assert f"stream {(bench.side if bind_work else bench.work).id} " in status.error.what


def test_s2_the_firmware_is_asked_first(bound):
    """Old firmware gives 207000 although the streams are unbound, too."""
    bench = bound(B3, bind=False, firmware=OLD_FIRMWARE)
    status = rt_model_task_update(bench.work, 0, bench.side, bench.para)
    assert status == 207000
    assert "firmware lacks feature 27" in status.error.what


def test_s3_a_chip_without_the_feature(bound, chip_like):
    """A chip that cannot update tasks gives 207000, whatever its firmware says."""
    bench = bound(chip_like(B3, model_task_update=False))
    status = rt_model_task_update(bench.work, 0, bench.side, bench.para)
    assert (status, status.message) == (207000, "")
    assert "ascend910b3 cannot update tasks" in status.error.what


def test_s4_a_950_without_the_firmware_feature(bound):
    """On a 950 the firmware counts just the same."""
    bench = bound(DAVID, bind=False, firmware=OLD_FIRMWARE)
    assert rt_model_task_update(bench.work, 0, bench.side, bench.para) == 207000


def test_s5_success_with_a_descriptor_buffer(bound):
    """Both streams bound, an explicit descriptor buffer, key 123456 in memory: one place holder on the side stream."""
    bench = bound(B3)
    context = bench.runtime.malloc(128, ts=True)
    bench.set_cells(123456, 1)
    status = rt_model_task_update(bench.work, 0, bench.side, {**bench.para, "ffts_plus_task_info": context})
    assert status == 0
    assert status.error is None
    assert (bench.side.core.queue.tail, bench.work.core.queue.tail) == (1, 0)
    entry = bench.update_entry()
    assert (entry["type"], entry["task_type"]) == (3, 101)
    assert entry["desc_buf_offset"] == context - 0x1240_0000_0000


def test_s6_success_on_a_950(bound):
    """Cells of 64 bits and no FFTS+ information: accepted, with the addresses themselves in the entry."""
    bench = bound(DAVID)
    bench.set_cells(123456, 123456)
    assert rt_model_task_update(bench.work, 0, bench.side, bench.para) == 0
    entry = bench.update_entry()
    assert entry["tiling_key_offset"] == bench.para["tiling_key_addr"]
    assert entry["block_dim_offset"] == bench.para["block_dim_addr"]


@pytest.mark.parametrize("chip", [P3, DAVID])
def test_s7_random_numbers_without_that_feature(bound, chip):
    """Kind 1 gives 207000 where only A2 and A3 have it."""
    bench = bound(chip)
    status = rts_launch_update_task(bench.work, 0, bench.side, info_of(bench, id=1))
    assert status == 207000
    assert "does not update random-number tasks" in status.error.what


def test_random_numbers_on_a2_are_not_built(bound):
    """Where the vendor has kind 1 the refusal says that it is unsupported here; a null stream comes before it."""
    bench = bound(B3)
    status = rts_launch_update_task(bench.work, 0, bench.side, info_of(bench, id=1))
    assert (status, status.error.refusal) == (207000, Refusal.UNSUPPORTED_HERE)
    assert rts_launch_update_task(None, 0, bench.side, info_of(bench, id=1)) == 107000


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ({"func_entry_addr": None}, "para.tiling_key_addr"),
        ({"block_dim_addr": None}, "para.block_dim_addr"),
        ({"bin_handle": None}, "para.hdl"),
        ({"bin_handle": None, "block_dim_addr": None, "func_entry_addr": None}, "para.tiling_key_addr"),
        ({"bin_handle": None, "block_dim_addr": None}, "para.block_dim_addr"),
    ],
)
def test_s8_null_parameters_in_order(bound, missing, named):
    """Key address, block dim address and handle are looked at in this order; each null is 107000 with EE1004."""
    bench = bound(B3)
    status = rts_launch_update_task(bench.work, 0, bench.side, info_of(bench, **missing))
    assert (status, status.message) == (107000, "EE1004")
    assert f"parameter {named} is a null pointer" in status.error.what


@pytest.mark.parametrize("kind", [0, 3, -1])
def test_s9_unknown_kinds(bound, kind):
    """A kind other than 1 and 2 is 107000 with EE1003, and the message names both."""
    bench = bound(B3)
    status = rts_launch_update_task(bench.work, 0, bench.side, info_of(bench, id=kind))
    assert (status, status.message) == (107000, "EE1003")
    assert "1 (random numbers) or 2 (AI Core)" in status.error.what


def test_s10_the_public_call(bound):
    """Null information is the ACL layer's own code; a null stream is judged by the runtime."""
    bench = bound(B3)
    assert acl_task_update_async(bench.work, 0, None, bench.side) == 100000
    status = acl_task_update_async(bench.work, 0, info_of(bench), None)
    assert (status, status.message) == (107000, "EE1004")
    assert "parameter stream is a null pointer" in status.error.what
    assert acl_task_update_async(None, 0, info_of(bench), bench.side) == 107000
    assert acl_task_update_async(None, 0, None, None) == 107000
    assert rts_launch_update_task(bench.work, 0, bench.side, None) == 107000


def test_null_streams_come_first_of_all(bound):
    """Destination, executing stream and parameters are looked at before chip, firmware and binding."""
    bench = bound(B3, bind=False, firmware=OLD_FIRMWARE)
    for arguments, named in (
        ((None, 0, None, None), "dst_stream"),
        ((None, 0, bench.side, None), "dst_stream"),
        ((bench.work, 0, None, None), "parameter stream"),
        ((bench.work, 0, bench.side, None), "para"),
    ):
        status = rt_model_task_update(*arguments)
        assert (status, status.message) == (107000, "EE1004")
        assert named in status.error.what


@pytest.mark.parametrize("device_id", [0, 64])
def test_s11_capability_of_old_firmware_and_of_the_stub(api, device_id):
    """The query succeeds and says no: firmware without the feature, and a stub without the configuration."""
    runtime = api(B3, firmware=OLD_FIRMWARE)
    found = runtime.get_device_capability(device_id, Module.TSCPU, Feature.MODEL_TASK_UPDATE)
    assert found is Capability.NOT_SUPPORT


def test_s12_capability_of_a_device_that_can(api, chip_like):
    """Firmware with feature 27 says yes, on a chip that has the feature; the stub goes by its configuration."""
    ask = (Module.TSCPU, Feature.MODEL_TASK_UPDATE)
    assert api(B3).get_device_capability(0, *ask) is Capability.SUPPORT
    assert api(B3).get_device_capability(64, *ask) is Capability.NOT_SUPPORT
    assert api(B3, firmware=Firmware(offline=True)).get_device_capability(64, *ask) is Capability.SUPPORT
    without = chip_like(B3, model_task_update=False)
    for device_id in (0, 64):
        found = api(without, firmware=Firmware(offline=True)).get_device_capability(device_id, *ask)
        assert found is Capability.NOT_SUPPORT


@pytest.mark.parametrize(("arguments", "code"), [((7, 5, 4), 107001), ((0, 99, 4), 107000), ((0, 5, 99), 107000)])
def test_capability_of_what_does_not_exist(api, arguments, code):
    """Unknown devices, modules and features are refused; known ones that nobody implements are not supported."""
    with pytest.raises(RuntimeApiError) as caught:
        api(B3).get_device_capability(*arguments)
    assert caught.value.code == code
    assert api(B3).get_device_capability(0, Module.AICORE, Feature.FFTS_MODE) is Capability.NOT_SUPPORT


def test_s13_a_destination_that_was_never_launched(bound, ids):
    """The host accepts it with all ones as descriptor; the device faults when the update is executed."""
    bench = bound(B3)
    runtime = bench.runtime
    bench.set_cells(1, 4)
    assert rt_model_task_update(bench.work, 77, bench.side, bench.para) == 0
    assert bench.update_entry()["desc_buf_offset"] == 2**64 - 1
    runtime.end_graph(bench.model, bench.side)
    runtime.load_complete(bench.model)
    runtime.execute_model(bench.model, bench.caller)
    with pytest.raises(RuntimeApiError) as caught:
        runtime.synchronize_stream(bench.caller)
    assert caught.value.code == 507011
    assert ids(bench.device.scheduler.faults)[0] == "update.target-missing"


def test_s14_no_memory_for_the_table(bound, monkeypatch):
    """The error is returned, nothing is queued, nothing stays allocated."""
    bench = bound(B3)
    before = snapshot(bench)
    memory = bench.device.memory
    monkeypatch.setattr(memory, "capacity", memory.used)
    status = rt_model_task_update(bench.work, 0, bench.side, bench.para)
    assert (status, status.message) == (207001, "EE1023")
    assert isinstance(status.error, LimitError)
    assert snapshot(bench) == before


def test_s14_no_room_in_the_ring(bound, chip_like):
    """A full model ring gives 507002 with EE1019 and the table, built by then, is freed again."""
    bench = bound(chip_like(B3, usable_tasks=2))
    for _ in range(2):
        bench.runtime.launch_nop(bench.side)
    before = snapshot(bench)
    status = rt_model_task_update(bench.work, 0, bench.side, bench.para)
    assert (status, status.message) == (507002, "EE1019")
    assert snapshot(bench) == before


def test_the_program_must_live_and_have_kernels(bound):
    """A handle that was unregistered is 107017, a program without kernels 507000; both come after the binding check."""
    bench = bound(B3)
    empty = bench.runtime.register_program("Shows", [])
    assert rt_model_task_update(bench.work, 0, bench.side, {**bench.para, "hdl": empty}) == 507000
    bench.runtime.unregister_program(bench.program)
    assert rt_model_task_update(bench.work, 0, bench.side, bench.para) == 107017
    free = bench.runtime.create_stream()
    assert rt_model_task_update(free, 0, bench.side, bench.para) == 107005


def test_parameters_as_record_or_mapping(bound):
    """Records and mappings say the same; a name that does not exist is refused, as is something else altogether."""
    bench = bound(B3)
    assert rt_model_task_update(bench.work, 0, bench.side, ModelTaskUpdate(**bench.para)) == 0
    assert rts_launch_update_task(bench.work, 0, bench.side, TaskUpdateInfo(**info_of(bench))) == 0
    for para in ({**bench.para, "tiling_key": 3}, 5):
        status = rt_model_task_update(bench.work, 0, bench.side, para)
        assert (status, status.message) == (107000, "EE1003")
    assert rts_launch_update_task(bench.work, 0, bench.side, {"bin_handle": bench.program}) == 107000


def test_internal_and_public_call_build_the_same_entry(bound):
    """But for task id and the address of the table, the 64 bytes are equal."""
    bench = bound(B3)
    task = bench.launch()
    assert rt_model_task_update(bench.work, task, bench.side, bench.para) == 0
    assert rts_launch_update_task(bench.work, task, bench.side, info_of(bench)) == 0
    assert acl_task_update_async(bench.work, task, info_of(bench), bench.side) == 0
    entries = [bench.update_entry(slot) for slot in range(3)]
    assert [e.pop("task_id") for e in entries] == [0, 1, 2]
    assert len({e.pop("tiling_tab_offset") for e in entries}) == 3
    assert entries[0] == entries[1] == entries[2]


def test_a_stream_of_another_device(bound, api):
    """A stream of another device is 107003."""
    bench, other = bound(B3), api(B3)
    assert rt_model_task_update(bench.work, 0, other.create_stream(), bench.para) == 107003


def test_what_the_host_does_not_check(bound):
    """A destination on a stream of another model, and a key that no row has, are accepted."""
    bench = bound(B3)
    runtime = bench.runtime
    other, stream = runtime.create_model(), runtime.create_stream()
    runtime.bind_stream(other, stream)
    bench.set_cells(999, 0)
    assert rt_model_task_update(stream, 0, bench.side, bench.para) == 0
    odd = {**bench.para, "tiling_key_addr": 0x10, "block_dim_addr": 0x20}
    assert rt_model_task_update(bench.work, 0, bench.side, odd) == 0


def test_chips_of_one_family_agree(bound, chip_like):
    """A chip that was only renamed builds the same update entry."""
    entries = []
    for chip in (B3, replace(chip_like(B3), name="other")):
        bench = bound(chip)
        rt_model_task_update(bench.work, bench.launch(), bench.side, bench.para)
        entries.append(bench.side.core.queue.entry(0))
    assert entries[0] == entries[1]
