"""How the queue uses the database: sessions, clock, lookups, faults, storable texts."""
