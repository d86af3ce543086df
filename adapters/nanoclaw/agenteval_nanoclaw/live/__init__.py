"""NanoClaw run again: its agent-runner on a scratch install, in a sandbox."""
