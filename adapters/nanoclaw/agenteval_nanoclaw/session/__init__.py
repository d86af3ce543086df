"""Real recordings of NanoClaw: what it leaves on disk, read into the same trace as a replay bundle.

Data flows one way: `source` finds the files, `transcript`, `v2` and `v1` read them, `runs` splits them into runs,
`mapping` tells one run to the trace builder.
"""
