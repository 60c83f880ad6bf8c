"""A PostgreSQL that comes with the development requirements and starts when it is first needed."""
