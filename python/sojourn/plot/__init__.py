"""Figures of results: chart types, figures built from them, and output to files and pages."""
