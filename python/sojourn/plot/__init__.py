"""Pictures of results: kinds of charts, figures made of them, and files for paper and pages."""
