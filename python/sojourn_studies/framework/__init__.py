"""What a study is, how it is run into a store, and how its cells are scored and shown."""
