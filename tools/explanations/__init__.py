"""What codes and ids mean: tables of vendor codes and of our own ids, and finding entries in them.

| module | codes |
|---|---|
| `ts`, `ts_full` | task scheduler (TS) codes: all by name; those a user meets here in full |
| `acl` | return codes of the user API |
| `messages` | message ids E…, EE… |
| `error_type` | bits of the error type of a completion entry |
| `ids`, `ids_device` | ids of this product; plugins add theirs through the hook `sqemu_explanations` |
| `catalog` | all of them together, and how a query is read |
"""
