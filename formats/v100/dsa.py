"""Random numbers: type 15 (`reference/sqe_formats.md` 4.12)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

_COMMON = """
    @8   start:1  function_type:3  data_type:3  algo_type:3  param_vld_bitmap:5  param_addr_val_bitmap:7
         -:10
    @12  sqe_index:16  kernel_credit:8  -:8
"""

DsaSqe = define(
    "v100",
    "DsaSqe",
    64,
    HEADER,
    _COMMON,
    """
    @16  dsa_cfg_result_addr_low:32
    @20  dsa_cfg_result_addr_high:32
    @24  dsa_cfg_state_addr_low:32
    @28  dsa_cfg_state_addr_high:32
    @32  dsa_cfg_param_addr_low:32
    @36  dsa_cfg_param_addr_high:32
    @40  dsa_cfg_seed_low:32
    @44  dsa_cfg_seed_high:32
    @48  dsa_cfg_number_low:32
    @52  dsa_cfg_number_high:32
    @56  -:32*2
    """,
    note="bytes 16 to 55 are what an update replaces",
    sqe_type=15,
    match={"type": (15,)},
)

DsaSqeDriverView = define(
    "v100",
    "DsaSqeDriverView",
    64,
    HEADER,
    _COMMON,
    """
    @16  cfg_result_addr_low:32
    @20  cfg_result_addr_high:32
    @24  cfg_state_addr_low:32
    @28  cfg_state_addr_high:32
    @32  cfg_param_addr_low:32
    @36  cfg_param_addr_high:32
    @40  cfg_seed_low:32
    @44  cfg_seed_high:32
    @48  cfg_number_low:32
    @52  cfg_number_high:32
    @56  ctx_id:16  slot_id:4  err_bit:1  -:11
    @60  thread_id:16  -:16
    """,
    note="the same entry as the driver sees it, with the tail of an FFTS+ context",
    sqe_type=15,
)
