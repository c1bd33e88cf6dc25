"""What is wrong with what users give."""


class InputError(ValueError):
    """What a user gave cannot be used; the message says what is allowed.

    Its kinds are `ScenarioError`, `ConfigError`, `StoreError` (results that cannot be read or
    written), and others with a message alone, such as that for an unknown name.
    """
