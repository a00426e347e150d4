"""Tables and figures, with verdicts, from records alone."""
