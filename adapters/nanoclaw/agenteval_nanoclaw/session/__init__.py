"""Reads real recordings of NanoClaw, the files that it leaves on disk, into the same trace as a replay bundle.

Data flows one way. `source` finds the files, `transcript` and `store` read them, and `runs` splits them into runs.
`lines` reads the lines of one run, and `mapping` adds its events to the trace builder.
"""
