r"""Editable text of records and back: what `sqemu dump --asm` writes and `sqemu asm` reads.

| module | what |
|---|---|
| `writer` | entries, and whole blobs, as text |
| `lexer` | a line as tokens with columns |
| `reader` | text as bytes |
| `jsonl` | the objects of `sqemu dump --json` as bytes |
| `run` | the command |

The text:

    .family v100               # layouts of what follows
    AicoreKernelSqe {          # slot 0: stream 3 task 9 kernel
        block_dim = 8
        task_type = NOP        # a name of the value
        pc_addr = 0x12c0c0200000
        payload[2] = 7         # one element; payload = [1, 2, 3] gives all
    }
    .zero 128                  # bytes of 0
    .bytes 0300 6700           # bytes as they are
    .text "abc\n"              # UTF-8, escapes as in JSON
    .checksum                  # the blob's CRC-32, computed at the end

Fields that are not named are 0. Reserved bits have names (`reserved_3`), so every byte can be written.
"""
