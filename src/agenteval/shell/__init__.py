"""What a shell command does to files, as far as its words tell.

`commands` follows them, from the `words` of a line and what is `known` of each; `edits` reads scripts of `sed`, `code`
the paths in programs.
"""
