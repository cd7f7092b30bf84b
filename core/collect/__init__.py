"""Collect judgements from models: prompts, requests, strict parsing, a runner that never pays
twice.

`plan(job, store)` says what a job needs; `start(job, store)` runs it in the background and returns
a `Run` with `.progress()` and `.stop()`. What was answered is in the store's ledger
(`core.store.ledger`) before it counts, so a job that was stopped, or whose process died, goes on
where it was.
"""
