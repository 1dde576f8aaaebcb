"""Helpers of `sqemu report`: a run record as one HTML page that needs nothing from elsewhere.

| module | what |
|---|---|
| `subject` | the record, and what is worked out from it once |
| `markup` | elements of HTML; text is escaped by construction |
| `columns` | text and numbers as compact JSON |
| `timeline`, `entries`, `writes` | the parts of the page's data that its script draws |
| `summary`, `problems`, `wait_picture`, `ub_maps`, `against` | the parts that are HTML and SVG already |
| `build` | the whole page, with `page.css` and all scripts (`basics.js`, `timeline.js`, `tables.js`, `page.js`) in it |

Nothing here asks for the time or for the path of the record: the same record gives the same bytes.
"""
