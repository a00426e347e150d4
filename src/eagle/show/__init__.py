"""Results on screens: text, HTML and rich, for explanations and comparisons alike."""
