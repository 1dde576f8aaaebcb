"""FFTS+ contexts, 128 bytes each: one file per kind (`reference/sqe_formats.md` 5)."""
