"""Device-side records: sizes and places that the reference states (`device_semantics.md` 6.4, `cgdr.md` 3.7)."""

import struct

import pytest

import formats
from formats import FormatError
from formats.runtime import KERNEL_MAGIC, run_context


def record(name):
    """A runtime struct by name."""
    return formats.get("runtime", name)


SIZES = {
    "TilingDataHeader": 64, "VectorHeader": 64, "RunContext": 40, "ValueCell": 128, "Tensor": 752,
    "RefreshedTensor": 1392, "AicpuArgHead": 20, "NodeInfoHead": 88, "NodeInstance": 48, "CompileTimeTensor": 144,
    "KernelDescriptor": 64, "CgdrTilingData": 64, "ParamDef": 8264, "ModelTaskUpdateInfo": 32,
    "TilingSinkTaskInfo": 24, "TilingContextAddr": 40, "SubKernel": 64,
}  # fmt: skip


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_sizes(name, size):
    """The records have the sizes of the reference."""
    assert record(name).size == size


@pytest.mark.parametrize(
    ("name", "field", "byte"),
    [
        ("TilingDataHeader", "data_size", 8),
        ("TilingDataHeader", "data_addr", 16),
        ("VectorHeader", "size", 8),
        ("VectorHeader", "elements", 56),
        ("RunContext", "output_start", 32),
        ("Tensor", "storage_dim_num", 248),
        ("Tensor", "data_addr", 640),
        ("RefreshedTensor", "device_addr", 0),
        ("RefreshedTensor", "tensor", 640),
        ("AicpuArgHead", "ext_info_addr", 12),
        ("CgdrTilingData", "scaleValue", 52),
        ("ParamDef", "is_custom", 16),
        ("ParamDef", "is_prefix", 17),
        ("ParamDef", "so_name", 18),
        ("ParamDef", "kernel_name", 4114),
        ("ParamDef", "op_name", 8210),
        ("ParamDef", "host_input_info", 8242),
    ],
)
def test_places(name, field, byte):
    """The fields stand at the bytes of the reference."""
    assert record(name).by_name[field].offset == 8 * byte


def test_published_tiling_data():
    """The 64 bytes published for T=192, B=1, 8 heads of 80 on 8 cores show the numbers of the worked example."""
    data = bytes.fromhex(
        "080000000000040000ce0300c0000000080000005000000008000000500000004000000003000000010000000000000001000000"
        "2ef9e43d5000000000000000"
    )
    values = record("CgdrTilingData").parse(data)
    scale = struct.unpack("<f", values["scaleValue"].to_bytes(4, "little"))[0]
    assert [values[n] for n in ("vectorCoreNum", "ubCalSize", "ubRestBytes", "t")] == [8, 262144, 249344, 192]
    assert [values[n] for n in ("hqk", "dk", "hv", "dv", "chunkSize", "numChunks")] == [8, 80, 8, 80, 64, 3]
    assert [values[n] for n in ("b", "padSize", "hasGamma", "vStep", "debug")] == [1, 0, 1, 80, 0]
    assert abs(scale - 80**-0.5) < 1e-8


def test_the_descriptor_magic_reads_as_text():
    """A kernel descriptor is found in a memory dump by its first eight bytes."""
    assert record("KernelDescriptor").build({"magic": KERNEL_MAGIC})[:8] == b"SQEMUKRN"


@pytest.mark.parametrize(("values", "size"), [(0, 48), (1, 56), (18, 192)])
def test_a_run_context_has_48_bytes_and_8_per_value(values, size):
    """The 48 bytes of the reference include one value pointer; the fixed part comes first."""
    layout = run_context(values)
    assert layout.size == size
    assert layout.by_name["values"].offset == 8 * 40
    assert layout.by_name["output_start"] == record("RunContext").by_name["output_start"]


@pytest.mark.parametrize("values", [-1, 65537])
def test_a_run_context_of_another_size_is_refused(values):
    """Counts out of reach are a FormatError."""
    with pytest.raises(FormatError, match="possible"):
        run_context(values)
