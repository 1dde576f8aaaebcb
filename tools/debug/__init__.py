"""`sqemu debug`: a program in single steps, forward and back.

| module | content |
|---|---|
| `target` | from the arguments to a device, its session and the way through it |
| `words` | numbers, places and stops as they are written in commands |
| `views` | what `where`, `show` and `who` say |
| `debugger` | the commands |
"""
