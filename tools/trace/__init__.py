"""Helpers of `sqemu trace`: what a recorded run says about itself.

| module | what |
|---|---|
| `source` | reading: a run record, or the JSON lines of `sqemu run --trace` |
| `tasks` | events of an execution as tasks: when each waited, started, ended, and who released it |
| `causes` | why a task started when it did, link by link back to the host |
| `stuck` | why a task never started |
| `writes`, `loaded` | writes to entries, contexts and cells; fields as they were loaded |
| `show_events`, `show_summary`, `show_writes`, `show_why` | the subcommands that print |
| `database` | `sql`: the run as tables of a database in memory |
| `differences` | `diff`: two runs, stream by stream |
| `scene` | `timeline`: tracks, slices, instants, flows; `cores` draws the cores |
| `chrome`, `perfetto` | the two forms a timeline is written in; `wire` is the protobuf format of the second |
"""
