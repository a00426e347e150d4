"""Results on screens: text and HTML, for explanations and comparisons alike."""
