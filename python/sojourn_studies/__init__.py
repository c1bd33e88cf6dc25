"""Published studies, rerun with Sojourn.

Each study is a package with a `STUDY`; `framework` says what a study is, runs it and scores it. The
figures of docs/queues are in `queues`.
"""
