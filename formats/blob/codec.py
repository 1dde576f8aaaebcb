"""Task blob <-> bytes: the public functions in one place."""

from formats.blob.frame import SectionInfo
from formats.blob.reader import decode, sections, task_record
from formats.blob.writer import MAX_TEXT, encode

__all__ = ["MAX_TEXT", "SectionInfo", "decode", "encode", "sections", "task_record"]
