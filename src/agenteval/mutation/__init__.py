"""Mutation testing of recordings (`agenteval mutate`): one realistic regression is put into a trace at a time.

A regression that no assertion notices shows what the tests do not check.
"""
