"""What `sqemu tiling` asks for and how it shows the answer.

| module | |
|---|---|
| `ask` | options -> what is asked; errors for shapes that do not fit |
| `sweep` | one option over a range |
| `run` | the command |
| `as_text`, `as_json`, `as_map`, `as_svg` | the answer |
"""
