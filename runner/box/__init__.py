"""Processes and what keeps them apart: the agent's box, supervision, signals.

Each step by which a box is made raises OSError where the kernel refuses it.
"""
