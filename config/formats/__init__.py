"""How Django writes moments where no template says it: with seconds, and the same for everybody."""
