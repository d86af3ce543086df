"""What a shell command does to files, as far as its words tell: `commands.touches`.

A line becomes `words`, these become simple commands, and a `Shell` follows one after the other and notes what each does to
files.
"""
