"""Types of tasks in decoded blobs."""

from __future__ import annotations

from formats.blob import Blob, BlobStream, BlobTask, KernelType, TaskType, decode, encode


def test_decoded_tasks_have_named_types_where_there_is_a_name():
    """41 is UPDATE and kernel type 6 AI CPU; a kernel type of no name stays an int, and the bytes are the same."""
    tasks = (BlobTask(41, 0, kernel_type=6), BlobTask(0, 0, kernel_type=99))
    blob = Blob(name="g", chip="ascend310p3", streams=(BlobStream(0, "main"),), tasks=tasks)
    found = decode(encode(blob))
    assert found == blob
    assert [type(each.type) for each in found.tasks] == [TaskType, TaskType]
    assert [type(each.kernel_type) for each in found.tasks] == [KernelType, int]
    assert encode(found) == encode(blob)
