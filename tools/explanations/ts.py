"""All task scheduler codes (`reference/sqe_formats.md` 12): number, vendor name without `TS_`, what it says."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TABLE = """
0x0   SUCCESS                                  | no error
0x1   ERROR_UNKNOWN                            | something failed that the firmware has no code for
0x2   ERROR_NULL_PTR                           | a pointer that was needed was null
0x3   ERROR_ILLEGAL_AI_CORE_ID                 | an AI Core number is out of range
0x4   ERROR_ILLEGAL_PARAM                      | a field or argument has a value that is not allowed
0x5   ERROR_TASK_CMD_QUEUE_FULL                | the queue of task commands has no room
0x6   ERROR_TASK_CMD_QUEUE_EMPTY               | the queue of task commands has nothing to take
0x7   ERROR_TASK_REPORT_QUEUE_FULL             | the queue of task reports has no room
0x8   ERROR_TASK_REPORT_QUEUE_EMPTY            | the queue of task reports has nothing to take
0x9   ERROR_TASK_NODE_BUFF_ALL_OCCUPYED        | every task node of the firmware is in use
0xA   ERROR_TASK_NODE_BUFF_ALL_FREED           | a task node was freed although none is in use
0xB   ERROR_L2_MEM_INSUFFICIENT_SPACE          | L2 memory has not enough room
0xC   ERROR_L2_MALLOC_FAILED                   | an allocation in L2 failed
0xD   ERROR_DMA_CHANNEL_ALL_OCCUPYED           | every DMA channel is in use
0xE   ERROR_MEMCPY_OP_FAILED                   | a memory copy failed
0xF   ERROR_BS_SLOT_ALL_OCCUPYED               | every block scheduler slot is in use
0x10  ERROR_TBS_SLOT_REPEAT_FREE               | a task block scheduler slot was freed twice
0x11  ERROR_PRIORITY_TASK_LIST_FULL            | the list of tasks of one priority has no room
0x12  ERROR_PRIORITY_TASK_LIST_EMPTY           | the list of tasks of one priority has nothing to take
0x13  ERROR_NO_STREAM_LIST_NEED_TO_BE_PROCESSED | no stream is waiting to be served
0x14  ERROR_REPEAT_MARK_STREAM_NEED_SERVICE    | a stream was marked for service twice
0x15  ERROR_SYS_DMA_CHANNEL_ALL_OCCUPAPYED     | every system DMA channel is in use
0x16  ERROR_NO_HBML2TASKNODE_FOUND             | no task node was found for a copy between HBM and L2
0x17  ERROR_SQNODE_NODE_SLOT_ALL_OCCUPAPYED    | every slot for submission queue nodes is in use
0x18  ERROR_CQNODE_NODE_SLOT_ALL_OCCUPAPYED    | every slot for completion queue nodes is in use
0x19  ERROR_SQNODE_NOT_ENOUGH                  | too few submission queue nodes are left
0x1A  ERROR_SQNODE_SLOT_REPEAT_FREE            | a submission queue node was freed twice
0x1B  ERROR_CQNODE_SLOT_REPEAT_FREE            | a completion queue node was freed twice
0x1C  ERROR_CQ_REPORT_FAILED                   | a completion report could not be delivered
0x1D  SYS_DMA_RESET_SUCCESS                    | the system DMA was reset; no error
0x1E  SYS_DMA_RESET_FAILED                     | the system DMA could not be reset
0x1F  SYS_DMA_TRNSFER_FAILED                   | a system DMA transfer failed
0x20  SYS_DMA_MEMADDRALIGN_FAILED              | an address of a system DMA transfer is not aligned
0x21  SYS_DMA_ERROR_QUEUE_FULL                 | the error queue of the system DMA has no room
0x22  SYS_DMA_ERROR_QUEUE_EMPTY                | the error queue of the system DMA has nothing to take
0x23  ERROR_TIMER_EVENT_FULL                   | no timer is left
0x24  TASK_L2_DESC_ENTRY_NOT_ENOUGH            | too few L2 descriptors are left for the task
0x25  ERROR_AICORE_TIMEOUT                     | AI Core timeout: a kernel ran longer than its credits allow
0x26  ERROR_AICORE_EXCEPTION                   | AI Core exception: a kernel did something the core cannot do
0x27  ERROR_AICORE_TRAP_EXCEPTION              | AI Core trap: a kernel executed its trap instruction
0x28  ERROR_AICPU_TIMEOUT                      | AI CPU timeout: a function on the AI CPU ran too long
0x29  ERROR_SDMA_L2_TO_DDR_MALLOC_FAIL         | memory for moving L2 contents to DDR by SDMA could not be allocated
0x2A  ERROR_AICPU_EXCEPTION                    | AI CPU exception: a function on the AI CPU failed
0x2B  ERROR_AICPU_DATADUMP_RSP_ERR             | the AI CPU answered a data dump request with an error
0x2C  ERROR_AICPU_MODEL_RSP_ERR                | the AI CPU answered a model request with an error
0x2D  ERROR_REPEAT_ACTIVE_MODEL_STREAM         | a model stream was activated while it was active
0x2E  ERROR_REPEAT_NOTIFY_WAIT                 | two tasks wait for one notify
0x2F  ERROR_AICORE_OVERFLOW                    | overflow detection found an overflow on an AI Core
0x30  ERROR_VECTOR_CORE_TIMEOUT                | vector core timeout: a kernel ran longer than its credits allow
0x31  ERROR_VECTOR_CORE_EXCEPTION              | vector core exception: a kernel did something the core cannot do
0x32  ERROR_VECTOR_CORE_TRAP_EXCEPTION         | vector core trap: a kernel executed its trap instruction
0x33  ERROR_AIVEC_OVERFLOW                     | overflow detection found an overflow on a vector core
0x34  ERROR_AICPU_OVERFLOW                     | overflow detection found an overflow on the AI CPU
0x35  ERROR_SDMA_OVERFLOW                      | overflow detection found an overflow in an SDMA reduction
0x36  ERROR_NORMAL_SQCQ_EXISTED                | the queue pair to create is there already
0x37  ERROR_SQ_CQ_INVALID                      | a queue pair is not valid
0x38  ERROR_SQ_RANGE_INVALID                   | a range of submission queues is not valid
0x39  ERROR_IRQ_INVALID                        | an interrupt number is not valid
0x40  ERROR_LOGIC_CQID_INVALID                 | a logic completion queue id is not valid
0x41  ERROR_APPFLAG_INVALID                    | the flag that names the application is not valid
0x42  ERROR_PHY_CQID_INVALID                   | a physical completion queue id is not valid
0x43  ERROR_VFID_NOT_ZERO                      | a virtual function id is not 0 where it has to be
0x44  ERROR_VFID_NOT_RANGE                     | a virtual function id is out of range
0x45  ERROR_STREAMID_INVALID                   | a stream id is not valid
0x46  ERROR_VFGID_INVALID                      | a virtual function group id is not valid
0x47  ERROR_AICORENUM_INVALID                  | a number of AI Cores is not valid
0x48  ERROR_VM_IS_WORKING                      | the virtual machine is working and cannot be changed
0x49  ERROR_VM_IS_IDLE                         | the virtual machine is idle
0x50  ERROR_VM_RESOURCE_CONFLICT               | two virtual machines claim one resource
0x51  ERROR_OPER_TYPE_INVALID                  | the kind of operation is not valid
0x52  ERROR_RESOURCE_TYPE_NOT_SUPPORT          | the kind of resource is not supported
0x53  ERROR_VIR_ID_INVALID                     | a virtual id is not valid
0x54  ERROR_PHY_ID_INVALID                     | a physical id is not valid
0x55  ERROR_SQ_CTRL_FLAG_INVALID               | a control flag of a submission queue is not valid
0x56  ERROR_APP_COUNT_INVALID                  | a number of applications is not valid
0x57  ERROR_AICPU_INFO_LOAD_RSP_ERR            | the AI CPU answered the loading of operator information with an error
0x58  ERROR_AICORE_MTE_ERROR                   | a memory transfer engine of an AI Core failed
0x59  ERROR_AICPU_ACTIVE_STREAM_FAIL           | the AI CPU could not activate a stream
0x5A  ERROR_SUSPECT_MTE_ERROR                  | a memory transfer engine is suspected to have failed
0x5B  ERROR_AICORE_ERROR_SW                    | an AI Core error that looks like one of software
0x5C  ERROR_AICORE_ERROR_HW_L                  | an AI Core error that looks like one of local hardware
0x5D  ERROR_LINK_ERROR                         | a link failed (known to the runtime only)
0x70  ERROR_DEBUG_INVALID_SQCQ                 | debugging: the queue pair is not valid
0x71  ERROR_DEBUG_WRONG_COMMAND_TYPE           | debugging: the kind of command is not known
0x72  ERROR_DEBUG_CMD_PROCESS                  | debugging: a command could not be processed
0x73  ERROR_DEBUG_INVALID_DEVICE_STATUS        | debugging: the device is in the wrong state for the command
0x74  ERROR_DEBUG_NOT_IN_DEBUG_STATUS          | debugging: debugging is not on
0x75  ERROR_DEBUG_INVALID_TASK_STATUS          | debugging: the task is in the wrong state for the command
0x76  ERROR_DEBUG_TASK_EMPTY                   | debugging: there is no task
0x77  ERROR_DEBUG_TASK_FULL                    | debugging: no more tasks can be debugged
0x78  ERROR_DEBUG_TASK_NOT_EXIST               | debugging: the task does not exist
0x79  ERROR_DEBUG_AI_CORE_FULL                 | debugging: no more AI Cores can be debugged
0x7A  ERROR_DEBUG_AI_CORE_NOT_EXIST            | debugging: the AI Core does not exist
0x7B  ERROR_DEBUG_AI_CORE_EXCEPTION            | debugging: the AI Core raised an exception
0x7C  ERROR_DEBUG_AI_CORE_TIMEOUT              | debugging: the AI Core did not answer in time
0x7D  ERROR_DEBUG_BREAKPOINT_FULL              | debugging: no breakpoint is left
0x7E  ERROR_DEBUG_READ_ERROR                   | debugging: reading failed
0x7F  ERROR_DEBUG_WRITE_FAIL                   | debugging: writing failed
0x80  QUEUE_FULL                               | a queue of the firmware has no room
0x81  QUEUE_EMPTY                              | a queue of the firmware has nothing to take
0x82  QUEUE_ALLOC_MEM_FAIL                     | memory for a queue could not be allocated
0x83  QUEUE_DATA_SIZE_UNMATCH                  | an element has another size than its queue
0x84  PCIE_DMA_INVLD_CPY_TYPE                  | PCIe DMA: the kind of copy is not valid
0x85  INVLD_CPY_DIR                            | the direction of a copy is not valid
0x86  PCIE_DMA_INVLD_CQ_DES                    | PCIe DMA: a completion descriptor is not valid
0x87  PCIE_DMA_CPY_ERR                         | PCIe DMA: a copy failed
0x88  PCIE_DMA_LNK_CHN_BUSY                    | PCIe DMA: the channel is busy
0x89  ERROR_PROFILE_BUFF_FULL                  | the profiling buffer has no room
0x8A  ERROR_PROFILE_MODE_CONFLICT              | two profiling modes exclude each other
0x8B  ERROR_PROFILE_OTHER_PID_ON               | another process is profiling
0x8C  ERROR_SCHD_AIC_TASK_PRELOAD_FAILED       | preloading an AI Core task failed
0x8D  ERROR_TSCPU_CLOSE_FAILED                 | the task scheduler CPU could not be shut down
0x8E  ERROR_EXPECT_FAIL                        | a value is not the expected one
0x8F  ERROR_REPEAT_MODEL_STREAM                | a stream was added to a model twice
0x90  ERROR_STREAM_MODEL_UNBIND                | a stream could not be taken out of its model
0x91  MODEL_STREAM_EXE_FAILED                  | a stream of a model failed, so the model failed
0x92  ERROR_IPC_SEND_FAILED                    | a message to another processor could not be sent
0x93  ERROR_IPC_PROC_REG_FAILED                | registering with the message service failed
0x94  STREAM_SQ_FULL                           | the submission queue of a stream has no room
0x95  ERROR_END_OF_SEQUENCE                    | the input sequence has ended
0x96  ERROR_SWITCH_STREAM_LABEL                | a switch between labels failed
0x97  ERROR_TASK_TYPE_NOT_SUPPORT              | a task of this type is not supported
0x98  ERROR_TRANS_SQE_FAIL                     | an SQE could not be translated
0x99  MODEL_ABORT_NORMAL                       | the model was aborted, as asked for
0x100 ERROR_RINGBUFFER_NOT_FIND                | the error ring buffer was not found
0x101 ERROR_RINGBUFFER_MANAGE_IS_NOT_FREE      | the manager of the error ring buffer is in use
0x102 ERROR_RINGBUFFER_IS_FULL                 | the error ring buffer has no room
0x103 ERROR_TASK_EXCEPTION                     | a task raised an exception
0x104 ERROR_TASK_TRAP                          | a task trapped
0x105 ERROR_TASK_TIMEOUT                       | a task did not end in time
0x106 ERROR_TASK_SQE_ERROR                     | the scheduler could not make sense of an SQE
0x107 ERROR_VF_SLOT_ALLOC_FAIL                 | no slot is left for a virtual function
0x108 PCIE_DMA_LIMIT_CONTROL                   | PCIe DMA: held back by flow control
0x109 ERROR_DEBUG_REGISTER_CONFLICT            | debugging is registered for a model and a stream at once
0x10A ERROR_AIC_TRAP_RD_OVERFLOW               | trap on a cube core: a read went out of range
0x10B ERROR_AIC_TRAP_WR_OVERFLOW               | trap on a cube core: a write went out of range
0x10C ERROR_AIV_TRAP_RD_OVERFLOW               | trap on a vector core: a read went out of range
0x10D ERROR_AIV_TRAP_WR_OVERFLOW               | trap on a vector core: a write went out of range
0x10E ERROR_MODEL_ABORTED                      | the model was aborted
0x10F ERROR_FFTSPLUS_TASK_EXCEPTION            | an FFTS+ task raised an exception
0x110 ERROR_FFTSPLUS_TASK_TRAP                 | an FFTS+ task trapped
0x111 ERROR_FFTSPLUS_TASK_TIMEOUT              | an FFTS+ task did not end in time
0x112 ERROR_TASK_BUS_ERROR                     | a task met a bus error
0x113 ERROR_TASK_RES_CONFLICT_ERROR            | two tasks claimed one resource
0x114 ERROR_TASK_SW_STATUS_ERROR               | a task left an error in the software status word
0x115 ERROR_APP_QUEUE_FULL                     | the queue of applications has no room
0x116 ERROR_ABORT_UNFINISHED                   | an abort has not finished
0x117 ERROR_STARS_QOS_ERROR                    | a quality of service setting failed
0x200 ERR_MSG_EXCEED_MAX_SIZE                  | a message is too long
0x201 ERROR_MALLOC_MEM_FAILED                  | a memory allocation of the firmware failed
0x202 ERROR_DELETE_NODE_FAILED                 | a list node could not be removed
0x203 ERROR_ONLINE_PROF_ADDR_CANNOT_BE_ZERO    | the address for online profiling is 0
0x204 ERROR_GET_HWTS_TASK_LOG_ERROR            | the task log of the hardware scheduler could not be read
0x205 ERROR_KERNEL_DATA_FULL                   | the store for kernel data has no room
0x206 ERROR_SHARED_BUFF_INVALID                | a shared buffer is not valid
0x207 ERROR_READ_REGISTER_FAILED               | a register could not be read
0x208 ERROR_TS_STATUS_POWER_OFF                | the task scheduler is powered off
0x209 ERROR_PRIVATE_BUFFER_FULL                | a private buffer has no room
0x20A ERROR_TRANS_ADDR_FAILED                  | an address could not be translated
0x20B ERROR_SDMA_ERROR                         | an SDMA transfer failed
0x20C ERROR_SDMA_TIMEOUT                       | an SDMA transfer did not end in time
0x20D ERROR_AICORE_RESET_FAILED                | an AI Core could not be reset
0x20E ERROR_AIV_RESET_FAILED                   | a vector core could not be reset
0x20F ERROR_HWTS_SW_STATUS_ERROR               | hardware scheduler: error in the software status word
0x210 ERROR_HWTS_EXCEPTION                     | hardware scheduler: exception
0x211 ERROR_MEMSET_FAILED                      | filling memory failed
0x212 ERROR_AICPU_BS_DONE_PRE_CHECK_FAILED     | the check before an AI CPU block is done failed
0x213 ERROR_GOING_DOWN                         | the device is shutting down
0x214 ERROR_HWTS_POOL_CONFLICT                 | hardware scheduler: two tasks claim one core pool
0x215 ERROR_GET_SQ_ID_FAILED                   | the id of a submission queue could not be found
0x216 ERROR_MODEL_END_GRAPH_EXCEPTION          | the end of graph task of a model failed
0x217 ERROR_SDMA_COPY_ERROR                    | a copy by SDMA failed
0x218 ERROR_SDMA_REDUCE_ERROR                  | a reduction by SDMA failed
0x219 ERROR_ALLOC_STREAM_ID_FAILED             | no stream id is left
0x220 ERROR_SDMA_DDRC_ERROR                    | SDMA met an error of the memory controller
0x221 ERROR_SDMA_POISON_ERROR                  | SDMA read poisoned data
0x222 ERROR_SDMA_LINK_ERROR                    | SDMA met a link error
0x223 ERROR_HCCL_OTHER_ERROR                   | collective communication failed for another reason
0x224 ERROR_AICPU_HCCL_OP_RETRY_FAILED         | repeating a collective operation on the AI CPU failed
0x225 ERROR_LOCAL_MEM_ERROR                    | memory of this device failed (known to the runtime only)
0x226 ERROR_REMOTE_MEM_ERROR                   | memory of another device failed (known to the runtime only)
0x227 ERROR_CCU_EXCEPTION                      | the collective unit raised an exception (known to the runtime only)
0x228 ERROR_CCU_TIMEOUT                        | the collective unit did not end in time (known to the runtime only)
0x300 ERROR_GET_PAGES_WRONG                    | memory pages could not be obtained
0x900 EXEC_AGAIN                               | execute again; no error
0x901 PROFILE_CMD_COMPLETED                    | a profiling command has ended; no error
0x902 PROFILE_CMD_FAILED                       | a profiling command failed
0x903 EXEC_NEW_SCHE                            | schedule anew; no error
0x904 APP_EXIT_UNFINISHED                      | the exit of an application has not finished
0x905 ERROR_STREAM_NOT_IN_MODEL                | the stream belongs to no model
0x906 ERROR_MODEL_EXEC_REC_ACT_STREAM          | a model in execution activates a stream again
0x907 APP_EXIT_NO_SEND_CQ                      | an application exits; its completions are not sent
0x908 STREAM_RECYCLED                          | the stream was recycled
0x909 ERROR_TS_CLOSED                          | the task scheduler is closed
0x90A ERROR_FEATURE_NOT_SUPPORT                | the chip or its firmware lacks the feature
0x90B LOG_DEAMON_RESET_ACC_SWITCH_INVALID      | log daemon: the switch for accelerator reset is not valid
0x90C LOG_DEAMON_CORE_SWITCH_INVALID           | log daemon: the core switch is not valid
0x90D LOG_DEAMON_CORE_ID_INVALID               | log daemon: a core id is not valid
0x90E LOG_DEAMON_NO_VALID_CORE_ID              | log daemon: no core id is valid
0x90F LOG_DEAMON_CORE_ID_PG_DOWN               | log daemon: the core is powered down
0x910 LOG_DEAMON_NOT_SUPPORT_CORE_MASK         | log daemon: core masks are not supported
0x911 LOG_DEAMON_SINGLE_COMMIT_INVALID         | log daemon: a single commit is not valid
0x912 LOG_DEAMON_NOT_SUPPORT_AIV_CORE_MASK     | log daemon: masks of vector cores are not supported
0x913 LOG_DEAMON_NOT_IN_POOL                   | log daemon: the core is in no pool
0x914 LOG_DEAMON_CORE_POOLING_STATUS_FAIL      | log daemon: the state of a core pool is wrong
"""


def _rows() -> dict[int, tuple[str, str]]:
    found = {}
    for line in _TABLE.strip().splitlines():
        code, name, meaning = line.replace("|", " ", 1).split(None, 2)
        found[int(code, 16)] = (name, meaning)
    return found


TS: Mapping[int, tuple[str, str]] = MappingProxyType(_rows())
"""Vendor name and meaning by code."""
