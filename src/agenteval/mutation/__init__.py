"""Mutation testing of recordings: a trace is changed on purpose, one realistic regression at a time, to see which
assertions notice (`agenteval mutate`).
"""
