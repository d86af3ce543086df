"""Real recordings of NanoClaw: what it leaves on disk, read into the same trace as a replay bundle.

Data flows one way: `source` finds the files, `transcript` and `store` read them, `runs` splits them into runs, `lines` reads
those of one run, `mapping` tells it to the trace builder.
"""
