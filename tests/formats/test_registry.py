"""The registry: look-up, inheritance, extension, and what kind of SQE 64 bytes are."""

import subprocess
import sys

import construct
import pytest
from hypothesis import given
from hypothesis import strategies as st

import formats
from formats import BUILTIN, Decoded, FormatError, Registry, define

UNIT = formats.sqe_unit("v100")


def error_of(call, *args):
    """The FormatError that a call ends with."""
    with pytest.raises(FormatError) as caught:
        call(*args)
    return caught.value


def sqe(name, **values):
    """An entry of family v100."""
    return formats.get("v100", name).build(values)


class TestLookUp:
    def test_families_and_names_of_this_release(self):
        """Six families of chips, the runtime's records and the blob are built in."""
        chips = ("v100", "v200", "v201", "arch9201", "arch5162", "other")
        assert BUILTIN.families == (*chips, "runtime", "blob")
        assert BUILTIN.sqe_families == ("v100", "v200", "v201", "arch9201", "arch5162")
        assert "PhModelTaskUpdateSqe" in BUILTIN.names("v100")
        assert BUILTIN.get("runtime", "ValueCell").size == 128

    def test_unknown_names_list_the_known_ones(self):
        """An unknown family or struct is a FormatError that says what there is."""
        assert "v100, v200, v201" in str(error_of(formats.get, "v300", "X"))
        error = error_of(formats.get, "v100", "X")
        assert error.id == "format.unknown-struct"
        assert "AicoreKernelSqe" in error.remedy
        assert error_of(BUILTIN.names, "v300").id == "format.unknown-family"

    @pytest.mark.parametrize("name", ["aicorekernelsqe", "AicoreKernelSq", "AicoreKernel"])
    def test_a_mistyped_struct(self, name):
        """The nearest name is offered, whatever the case of letters."""
        assert error_of(formats.get, "v100", name).remedy.startswith("did you mean AicoreKernelSqe")

    def test_built_in_families_inherit(self):
        """v201 takes what it does not redefine from v200."""
        assert BUILTIN.get("v201", "PhSqe") is BUILTIN.get("v200", "PhSqe")
        assert BUILTIN.get("arch9201", "AicKernelSqe") is not BUILTIN.get("v200", "AicKernelSqe")
        assert BUILTIN.get("v201", "CmoLinearSqe").by_name["cmo_type"].offset == 64

    def test_extend_leaves_the_registry_alone(self):
        """A plugin's structs are in the new registry only."""
        more = BUILTIN.extend([define("edu", "Sqe", 1, "a:8")])
        assert more.families == (*BUILTIN.families, "edu")
        assert more.get("edu", "Sqe").size == 1
        assert "edu" not in BUILTIN.families
        assert more.get("v100", "PhSqe") is BUILTIN.get("v100", "PhSqe")

    def test_a_name_can_be_taken_once(self):
        """A second struct of one name in one family is refused; in another family it is fine."""
        error = error_of(BUILTIN.extend, [define("v100", "PhSqe", 1, "a:8")])
        assert (error.id, error.where) == ("format.struct-clash", "v100.PhSqe")
        assert BUILTIN.extend([define("edu", "PhSqe", 1, "a:8")]).get("edu", "PhSqe").size == 1

    def test_families_inherit(self):
        """Families v201 and arch9201 list only what differs from v200."""
        base = define("v200", "CommonSqe", 64, "type:6 -:2 a:8 command_custom:8*62")
        kernel = define("v200", "KernelSqe", 64, "type:6 -:506", match={"type": (0,)})
        other = define("v201", "KernelSqe", 64, "type:6 x:2 -:504", match={"type": (0,)})
        registry = Registry((base, kernel, other))
        assert registry.get("v201", "CommonSqe") is base
        assert registry.get("v201", "KernelSqe") is other
        assert registry.get("v200", "KernelSqe") is kernel
        assert registry.names("v201") == ("CommonSqe", "KernelSqe")
        assert registry.decode("v201", bytes(64)).struct is other

    def test_a_match_names_a_scalar_field(self):
        """A rule about a field that does not exist, or about an array, is refused when the registry is made."""
        for name in ("nope", "body"):
            struct = define("edu", "Sqe", 64, "type:8 body:8*63", match={name: (1,)})
            assert error_of(Registry, (struct,)).id == "format.table"


class TestDecode:
    @pytest.mark.parametrize(
        ("data", "name"),
        [
            (sqe("AicoreKernelSqe", ffts_type=0), "AicoreKernelSqe"),
            (sqe("AicoreKernelSqe", ffts_type=1), "AicoreKernelSqe"),
            (sqe("AicoreKernelSqe", ffts_type=5), "AicoreKernelSqe"),
            (sqe("AicpuKernelSqe", type=1), "AicpuKernelSqe"),
            (sqe("PhSqe", type=3, task_type=103), "PhSqe"),
            (sqe("PhModelTaskUpdateSqe", type=3, task_type=101, tiling_tab_len=1), "PhModelTaskUpdateSqe"),
            (sqe("EventRecordSqe", type=4, event_id=9), "EventRecordSqe"),
            (sqe("EventWaitSqe", type=5), "EventWaitSqe"),
            (sqe("NotifyRecordSqe", type=6), "NotifyRecordSqe"),
            (sqe("NotifyWaitSqe", type=7), "NotifyWaitSqe"),
            (sqe("WriteValueSqe", type=8), "WriteValueSqe"),
            (sqe("FunctionCallSqe", type=20, conds_sub_type=6), "FunctionCallSqe"),
        ],
    )
    def test_kinds_are_recognised(self, data, name):
        """Type, task type, ffts_type and conds_sub_type lead to the layout, without doubt."""
        found = formats.decode("v100", data)
        assert (found.struct.struct_name, found.guessed, found.notes) == (name, False, ())

    @pytest.mark.parametrize(
        ("data", "name", "note"),
        [
            (sqe("CommonSqe", type=33), "CommonSqe", "type 33 (not a known type)"),
            (sqe("CommonSqe", type=16), "CommonSqe", "type 16 (ROCCE)"),
            (sqe("CommonSqe", type=18), "CommonSqe", "type 18 (RESERVED)"),
            (sqe("AicpuKernelSqe", type=1, topic_id=9), "AicpuKernelSqe", "topic 9 is not that of a kernel launch"),
            (sqe("PhSqe", type=3, task_type=20, payload=[1] + [0] * 11), "PhSqe", "task type 20 (LABEL_SET)"),
            (sqe("PhSqe", type=3, task_type=999, payload=[1] * 12), "PhSqe", "task type 999 (not a known"),
            (sqe("PhSqe", type=3, task_type=999), "PhSqe", "task type 999 (not a known"),
        ],
    )
    def test_kinds_without_a_layout_are_marked_as_guessed(self, data, name, note):
        """A kind this release has no layout for is shown in its generic form, with the reason."""
        found = formats.decode("v100", data)
        assert (found.struct.struct_name, found.guessed) == (name, True)
        assert found.notes[0].startswith(note)

    def test_reserved_bits_that_are_set_are_noted(self):
        """Stray bits are named by word and bit; they do not make the layout doubtful."""
        found = formats.decode("v100", sqe("NotifyWaitSqe", type=7, reserved_1=1, reserved_4=[0] * 10 + [1]))
        assert not found.guessed
        assert found.notes == ("reserved bits w2[31:13] are not 0", "reserved bits w5–w15 are not 0")

    @given(st.binary(min_size=64, max_size=64))
    def test_any_64_bytes_decode_and_build_back(self, data):
        """Whatever the bytes are, they decode, and the result builds the same bytes."""
        found = formats.decode("v100", data)
        assert isinstance(found, Decoded)
        assert UNIT.build(found) == data

    @pytest.mark.parametrize("size", [0, 63, 65, 128])
    def test_other_sizes_are_refused(self, size):
        """An SQE has 64 bytes."""
        assert error_of(formats.decode, "v100", bytes(size)).id == "format.size"

    @pytest.mark.parametrize("family", ["runtime", "blob", "v300"])
    def test_families_without_sqes_are_refused(self, family):
        """Only families with a `CommonSqe` have SQEs."""
        assert error_of(formats.decode, family, bytes(64)).id == "format.unknown-family"
        assert error_of(formats.sqe_unit, family).id == "format.unknown-family"

    def test_the_offset_is_the_caller_s(self):
        """`offset` is kept as it was given."""
        assert BUILTIN.decode("v100", bytes(64), offset=640).offset == 640


class TestSqeUnit:
    RING = sqe("PhSqe", type=3, task_type=103) + sqe("EventWaitSqe", type=5, event_id=3) + sqe("CommonSqe", type=63)

    def test_a_ring_parses_sizes_and_builds(self):
        """An array of units gives one `Decoded` per entry with its offset, knows its size, and builds back."""
        ring = construct.Array(3, UNIT)
        entries = ring.parse(self.RING)
        assert [e.struct.struct_name for e in entries] == ["PhSqe", "EventWaitSqe", "CommonSqe"]
        assert [e.offset for e in entries] == [0, 64, 128]
        assert ring.sizeof() == 192
        assert ring.build(entries) == self.RING

    def test_a_mapping_names_its_layout(self):
        """`_struct` chooses the layout of a mapping."""
        built = UNIT.build({"_struct": "EventWaitSqe", "type": 5, "event_id": 3})
        assert built == self.RING[64:128]

    @pytest.mark.parametrize("obj", [3, {}, {"type": 3}, {"_struct": 4}, {"_struct": "Nope"}, {"_struct": "CqeError"}])
    def test_something_else_is_refused(self, obj):
        """Without the name of a 64-byte layout of the family nothing is built."""
        assert error_of(UNIT.build, obj).id.startswith("format.")

    def test_a_short_stream_is_construct_s_own_error(self):
        """Inside construct a unit behaves like any other field."""
        with pytest.raises(construct.StreamError):
            UNIT.parse(bytes(10))


def test_importing_the_package_loads_no_numpy_and_no_hypothesis():
    """The registry comes without numpy; views load it when they are used."""
    code = "import formats, sys; assert formats.IS_SQEMU; print(sorted({'numpy', 'hypothesis'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_families_are_loaded_when_they_are_first_needed():
    """Importing the package loads no family; asking for one struct loads that family (and what it inherits) only."""
    code = (
        "import formats, sys\n"
        "families = ['v100', 'v200', 'v201', 'arch9201', 'arch5162', 'other', 'runtime']\n"
        "loaded = lambda: [f for f in families if f'formats.{f}' in sys.modules]\n"
        "print(loaded()); formats.get('v100', 'PhSqe'); print(loaded())\n"
        "formats.get('v201', 'PhSqe'); print(loaded())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['v100']", "['v100', 'v200', 'v201']"]
