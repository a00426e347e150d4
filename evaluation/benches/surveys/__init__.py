"""What the bench of surveys measures, a part in each file: see `evaluation.benches.survey`."""
