"""`sqemu plugins new`: a package with a chip, entries, engines and tests, ready to be installed and changed.

| module | content |
|---|---|
| `names` | the names that the package has, checked |
| `project` | files beside the code: pyproject, README, tests |
| `code` | the modules of the package |
| `write` | all files into a new folder, or none |

Files are `string.Template` texts; each is what its author would have written by hand.
"""
