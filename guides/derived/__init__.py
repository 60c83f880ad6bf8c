"""What language models derive from guides: asked for, kept as versions, never trusted.

The slices (`guides.writing`, `translation`, `topics`, `weeks`) stand on this and know nothing of
each other. Each has its tables, its prompt in templates/guides/prompts/, its schema, and a Keeper
that takes the answers away.
"""
