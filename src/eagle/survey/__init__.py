"""One set of model rows that explains every row of a table: see `eagle.survey.survey`."""
