"""Platform numbers a tiling function asks for."""

from formats.cstruct import define

PlatformBlock = define(
    "runtime",
    "PlatformBlock",
    96,
    """
    @0   core_num:32            | AI Cores, by the platform query
    @4   core_num_aic:32        | cube cores
    @8   core_num_aiv:32        | vector cores
    @12  prefetch_num:32        | NOPs between wait and kernel
    @16  ub_bytes:64            | unified buffer
    @24  l1_bytes:64            | L1 buffer
    @32  l0a_bytes:64           | L0A buffer
    @40  l0b_bytes:64           | L0B buffer
    @48  l0c_bytes:64           | L0C buffer
    @56  l2_bytes:64            | L2 cache
    @64  soc_name:8*32          | SoC name, ASCII, padded with 0
    """,
    note="own layout",
)
