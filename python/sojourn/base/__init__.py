"""What every other room uses: names that are looked up, files, CSV and TOML, the terminal."""
