"""How the queue uses the database: sessions, the clock, lookups, texts it can store."""
