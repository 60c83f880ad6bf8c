"""What happened in a week: its new guides, summed up."""
