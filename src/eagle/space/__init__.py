"""Where perturbations live."""
