"""Tables of any kind: frames, columns, the summary of data, rows and their perturbations."""
