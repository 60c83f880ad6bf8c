"""Who may come in, and how often: logins, API tokens, visitors in a hurry."""
