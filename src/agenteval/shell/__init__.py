"""Find the files that a shell command reads and writes, from its text alone: `commands.touches`.

`tokens` splits a line into words and simple commands. A `Shell` in `commands` then follows these in order, through folders,
variables, loops and pipes, and notes each file that they touch. No command is run.
"""
