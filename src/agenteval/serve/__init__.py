"""The OpenWOP eval host (RFC 0081): a front end over HTTP, as cli/ is one over the command line. Extra `[serve]`."""
