"""What murli costs, measured in instructions rather than in seconds that vary."""
