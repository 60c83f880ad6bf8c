"""What monitoring systems read: figures of the tables, as families of numbers with labels."""
