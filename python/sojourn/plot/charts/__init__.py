"""Chart types: their data, how matplotlib draws them, and their numbers as a table.

Series differ in colour and also in dash, marker or hatch, so charts work without colour.
"""
