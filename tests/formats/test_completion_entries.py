"""Completion entries: form, errors in words, task codes, faults (`sqe_formats.md` 8)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import FormatError
from formats.completion import (
    TaskKind,
    decode_cqe,
    decode_logic_cqe,
    decode_ub_dma_cqe,
    task_result,
)
from formats.ts_codes import TS_CODES


def cqe(family, name="CqeError", **values):
    """The bytes of an entry."""
    return formats.get(family, name).build(values)


def code(family, bits, kind, status=0):
    """Task code of an error entry."""
    return decode_cqe(family, cqe(family, error_bit=1, error_type=bits, sq_sw_status=status), kind=kind).code


STATUS = 0x1234
V100 = {
    TaskKind.COMMON: (0x103, 0x104, 0x105, 0x106, 0x109, 0x75),
    TaskKind.AI_CORE: (0x26, 0x27, 0x25, 0x106, 0x26, STATUS),
    TaskKind.AI_VECTOR: (0x31, 0x32, 0x30, 0x106, 0x31, STATUS),
    TaskKind.AICPU: (0x2A, 0x104, 0x28, 0x106, 0x2A, STATUS),
    TaskKind.FFTS_PLUS: (0x10F, 0x110, 0x111, 0x106, 0x10F, STATUS),
}
V200 = {
    TaskKind.AI_CORE: (0x26, 0x112, 0x25, 0x106, 0x26, STATUS),
    TaskKind.AI_VECTOR: (0x31, 0x112, 0x30, 0x106, 0x31, STATUS),
    TaskKind.AICPU: (0x2A, 0x112, 0x28, 0x106, 0x2A, STATUS),
}


class TestCodes:
    @pytest.mark.parametrize(("kind", "codes"), V100.items())
    def test_v100_bits(self, kind, codes):
        """Bit 0 to 5 stand for the codes of the reference; bit 5 of a kernel is the status word."""
        assert tuple(code("v100", 1 << bit, kind, STATUS) for bit in range(6)) == codes

    @pytest.mark.parametrize(("kind", "codes"), V200.items())
    def test_v200_bits(self, kind, codes):
        """A bus error takes the place of the trap."""
        assert tuple(code("v200", 1 << bit, kind, STATUS) for bit in range(6)) == codes

    def test_v200_common_rule(self):
        """A status word that is not 0 is the code; without one the bits decide."""
        bits = tuple(code("v200", 1 << bit, TaskKind.COMMON) for bit in range(6))
        assert bits == (0x103, 0x112, 0x105, 0x106, 0x113, 0x114)
        assert code("v200", 1, TaskKind.COMMON, 0x91) == 0x91

    def test_the_lowest_bit_wins(self):
        """Timeout and resource conflict together are a timeout."""
        assert code("v100", 0b010100, TaskKind.AI_CORE) == 0x25

    def test_the_warning_is_no_error(self):
        """Bit 6 alone sets the warning and gives no code."""
        found = decode_cqe("v100", cqe("v100", error_type=0x40))
        assert (found.warning, found.errors, found.code, found.code_name) == (True, (), None, "")

    def test_the_sqe_type_chooses_the_kind(self):
        """Type 1 is AICPU on v100 and AI Vector on v200."""
        entry = {"error_bit": 1, "error_type": 4, "sqe_type": 1}
        assert decode_cqe("v100", cqe("v100", **entry)).code == 0x28
        found = decode_cqe("v200", cqe("v200", **entry))
        assert (found.kind, found.code, found.code_name) == (TaskKind.AI_VECTOR, 0x30, "ERROR_VECTOR_CORE_TIMEOUT")

    def test_names(self):
        """Error bits and codes read as words."""
        found = decode_cqe("v200", cqe("v200", error_bit=1, error_type=0b110, sqe_type=0))
        assert found.errors == ("BUS_ERROR", "TIMEOUT")
        assert (TS_CODES[0x91], TS_CODES[0x95], TS_CODES[0x10E]) == (
            "MODEL_STREAM_EXE_FAILED", "ERROR_END_OF_SEQUENCE", "ERROR_MODEL_ABORTED",
        )  # fmt: skip

    @pytest.mark.parametrize(("family", "status"), [("v100", 6), ("v200", 6 << 16 | 1)])
    def test_aicpu_status(self, family, status):
        """The whole word on v100, its upper half on v200."""
        entry = cqe(family, error_bit=1, error_type=32, sq_sw_status=status)
        assert decode_cqe(family, entry, kind=TaskKind.AICPU).meaning == "AICPU END_OF_SEQUENCE"


class TestForms:
    @pytest.mark.parametrize(("family", "size"), [("v100", 16), ("v200", 20), ("v200", 32), ("arch9201", 20)])
    @pytest.mark.parametrize("flag", ["evt", "place_hold"])
    def test_time_stamps(self, family, size, flag):
        """An event or place-holder entry without error carries a time stamp."""
        entry = cqe("v100" if family == "v100" else "v200", "CqeSysCnt", **{flag: 1}, syscnt=0x123456789)
        found = decode_cqe(family, entry + bytes(size - len(entry)))
        assert (found.form, found.code, found.status) == ("time stamp", None, None)
        assert found.decoded.struct.join(found.decoded.values)["syscnt"] == 0x123456789

    def test_model_execute(self):
        """A condition entry that failed names the task that really did."""
        entry = cqe(
            "v100", "CqeModelExec", error_bit=1, error_type=1, sqe_type=20,
            fault_task_id=9, fault_stream_id=0xABC, result=1,
        )  # fmt: skip
        found = decode_cqe("v100", entry)
        assert (found.form, found.fault) == ("model execute", (9, 0xABC, 1))
        assert found.status == 9 | 0xABC << 16 | 1 << 28
        assert found.code == 0x103

    def test_a_model_that_ended_well_has_no_fault(self):
        """Without the result bit there is nothing to blame."""
        assert decode_cqe("v100", cqe("v100", "CqeModelExec", sqe_type=20, fault_task_id=9)).fault is None

    def test_picture_units(self):
        """Types 12 to 14 of v200 have their own form."""
        entry = cqe("v200", "CqeDvpp", error_bit=1, error_type=1, sqe_type=13, status=5, cmdlist_id=7)
        found = decode_cqe("v200", entry)
        assert (found.form, found.status, found.decoded.values["cmdlist_id"]) == ("picture", 5, 7)

    def test_ub_dma(self):
        """Two jetties with a status each; 4 is retries exceeded."""
        found = decode_ub_dma_cqe(cqe("v200", "CqeUbdma", jetty_id0=3, jetty_id1=4, status1=4))
        assert (found.form, found.meaning) == ("UB DMA", "jetty 4: RETRIES_EXCEEDED")
        assert decode_ub_dma_cqe(bytes(32)).errors == ()

    def test_sdma_status(self):
        """Bits of the SDMA channel are named."""
        found = decode_cqe("v100", cqe("v100", error_bit=1, error_type=1, sqe_type=11, sq_sw_status=0x10021))
        assert found.meaning == "SDMA DESCRIPTOR_READ|AXI|TIMEOUT"

    def test_logic_report(self):
        """The report carries the status word as error_code."""
        entry = cqe("v100", "LogicCqeSqeIndex", error_code=0x91, error_type=32, sqe_type=0, sqe_index=5)
        found = decode_logic_cqe(entry)
        assert (found.form, found.status, found.code, found.meaning) == (
            "logic report", 0x91, 0x91, "MODEL_STREAM_EXE_FAILED",
        )  # fmt: skip
        assert decode_logic_cqe(entry, time_stamp=True).decoded.values["time_stamp"] == 5

    def test_packed_results(self):
        """16 bits of task, 12 of stream, 4 of result."""
        assert task_result(0x1ABC0009) == (9, 0xABC, 1)
        with pytest.raises(FormatError, match="32-bit"):
            task_result(1 << 32)


class TestRefusals:
    @pytest.mark.parametrize(("family", "size"), [("v100", 15), ("v100", 20), ("v200", 16), ("v200", 21)])
    def test_other_sizes(self, family, size):
        """An entry has the size of its family."""
        with pytest.raises(FormatError) as caught:
            decode_cqe(family, bytes(size))
        assert caught.value.id == "format.size"

    def test_other_families_and_reports(self):
        """Families without completion entries, and reports of another size."""
        with pytest.raises(FormatError, match="no completion entries"):
            decode_cqe("arch5162", bytes(16))
        with pytest.raises(FormatError, match="no logic reports"):
            decode_logic_cqe(bytes(32), family="other")
        with pytest.raises(FormatError):
            decode_logic_cqe(bytes(31))
        with pytest.raises(FormatError, match="32 bytes"):
            decode_logic_cqe(bytes(33))
        with pytest.raises(FormatError, match="20 or 32"):
            decode_ub_dma_cqe(bytes(16))

    @settings(max_examples=150, deadline=None)
    @given(data=st.binary(min_size=32, max_size=32), kind=st.none() | st.sampled_from(TaskKind))
    def test_any_bytes_are_understood(self, data, kind):
        """Every entry gives an answer, and an error always has a code."""
        for found in (
            decode_cqe("v100", data[:16], kind=kind),
            decode_cqe("v200", data, kind=kind),
            decode_cqe("v201", data[:20], kind=kind),
            decode_logic_cqe(data, kind=kind),
            decode_ub_dma_cqe(data),
        ):
            assert (found.code is None) == (not found.errors) or found.form == "UB DMA"
