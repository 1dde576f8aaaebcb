"""Tensor objects of a sink buffer (`reference/device_semantics.md` 6.4, row 4; 6.2 for the refreshed form)."""

from formats.cstruct import define

Tensor = define(
    "runtime",
    "Tensor",
    752,
    """
    @0   origin_dim_num:64             | number of dimensions of the original shape
    @8   origin_dims:i64*25           | dimensions of the original shape; -1 is unknown
    @208 -:8*40
    @248 storage_dim_num:64             | number of dimensions of the storage shape
    @256 storage_dims:i64*25           | dimensions of the storage shape; -1 is unknown
    @456 -:8*40
    @496 -:8*40
    @536 origin_format:32           | format number of the original shape; 2 is ND
    @540 storage_format:32          | format number of the storage shape
    @544 expand_dims:64             | which dimensions the storage shape expands
    @552 -:8*40
    @592 placement:32               | memory the tensor is described in
    @596 dtype:32                   | element type, C API code
    @600 -:8*40
    @640 data_addr:64               | device address of the data
    @648 data_manager:64            | manager of the data, 0 when nobody owns it
    @656 data_size:64               | bytes of the data
    @664 data_placement:32          | memory the data are in
    @668 -:32
    @672 -:8*80
    """,
    note="the size and the place of the data block (byte 640) are facts; the other inner positions are unspecified",
)

RefreshedTensor = define(
    "runtime",
    "RefreshedTensor",
    1392,
    """
    @0    device_addr:64            | device address of the data, rewritten before every execution
    @8    -:8*632
    @640  tensor:8*752              | the tensor object, laid out as `Tensor`
    """,
    note="the size and the places of both parts are facts; the rest of the head is unspecified",
)
