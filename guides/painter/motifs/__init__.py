"""What can be painted: each motif is a function that draws one scene."""
