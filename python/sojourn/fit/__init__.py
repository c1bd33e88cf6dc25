"""From a log of probes on a real line to a scenario: what the line's delays say of its plant."""
