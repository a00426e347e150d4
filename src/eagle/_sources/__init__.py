"""What is explained: sources turn rows, images, texts and other things into instances."""
