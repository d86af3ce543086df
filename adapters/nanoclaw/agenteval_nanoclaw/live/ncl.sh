#!/bin/sh
# The program of this name in the image does the same.
exec bun /app/src/cli/ncl.ts "$@"
