"""What a shell command does to files, as far as its words tell: `commands` follows them, `edits` reads scripts of `sed`."""
