"""Kinds of charts: what each shows, how it is drawn on matplotlib's axes, its numbers as text.

Series differ in colour and in one thing more, a dash, a mark or a hatch: no one needs the colours.
"""
