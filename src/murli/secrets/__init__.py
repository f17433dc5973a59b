"""Secrets stay secret: redaction where bytes leave the process, and which values are secret."""
