"""What the guides say of a topic: the tags of spots, and a summary of each that matters."""
