"""Tensor objects made from templates have the bytes that their layouts give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu_core.operators import TensorInfo
from emu_plugins.tiling.build import refreshed_tensor, tensor_object
from formats.runtime import RefreshedTensor, Tensor


@given(
    st.lists(st.integers(-1, (1 << 63) - 1), max_size=25),
    st.integers(0, (1 << 64) - 1),
    st.integers(0, (1 << 64) - 1),
)
def test_the_same_bytes_as_through_the_layout(shape, address, size):
    """Every field by its layout, for any rank, address and size."""
    dims = [*shape, *[0] * (25 - len(shape))]
    body = Tensor.build(
        {
            "origin_dim_num": len(shape), "origin_dims": dims, "storage_dim_num": len(shape), "storage_dims": dims,
            "origin_format": 2, "storage_format": 2, "dtype": 3, "data_addr": address, "data_size": size,
        }
    )  # fmt: skip
    info = TensorInfo("int32", tuple(shape))
    assert tensor_object(info, address, size) == body
    assert refreshed_tensor(info, address, size) == RefreshedTensor.build(
        {"device_addr": address, "tensor": list(body)}
    )
