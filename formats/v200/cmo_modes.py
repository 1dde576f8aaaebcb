"""Words 7 to 15 of cache maintenance by addressing mode, the same in all families (`reference/sqe_formats.md` 6.7)."""

LINEAR = """
    @28  -:32
    @32  src_addr_low:32
    @36  src_addr_high:32
    @40  -:32
    @44  -:32
    @48  length_move:32
    @52  -:32
    @56  -:32
    @60  -:32
"""
"""Addressing of one run of bytes."""

STRIDE = """
    @28  -:32
    @32  src_addr_low:32
    @36  src_addr_high:32
    @40  -:32
    @44  -:32
    @48  length_move:32
    @52  src_stride_length:32
    @56  -:32
    @60  stride_num:32
"""
"""Addressing of runs at equal distances."""

TWO_DIM = """
    @28  num_outer:16  num_inner:16
    @32  src_addr_low:32
    @36  src_addr_high:32
    @40  stride_outer:32
    @44  stride_inner:32
    @48  length_inner:32
    @52  -:32*3
"""
"""Addressing of two dimensions."""
