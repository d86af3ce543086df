"""What a shell command does to files, as far as its words tell.

`commands` has the entry, `touches`, and the table of all commands that are known. On the way there, a line becomes
`words`, these become simple commands (`parsing`), and the `interpreter` follows one after the other: it fills in what
is to be filled in (`expansion`), makes a `Command` of it (`command`, `options`), and has it do what it does to the shell
(`builtins`, `runners`) or to files (`programs`), which it notes (`touch`). `edits` reads scripts of `sed`, `code` the
paths in programs.
"""
