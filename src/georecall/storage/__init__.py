"""Files and folders that are old or new, never half; one writer at a time."""
