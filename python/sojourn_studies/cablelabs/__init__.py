"""What the three studies of CableLabs have in common."""
