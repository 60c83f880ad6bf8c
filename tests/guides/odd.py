"""Values that no program should trip over."""

ODD = [
    *("", "0", "-1", "\x00", "%00", "%", "..", "../..", "'", '"', "<script>", "日本", "\U0001f5fb"),
    *("9" * 30, "x" * 3_000, "true", "null", "[]", "{}", "\r\nX: y", "\ufffe", "e\u0301", "1e999"),
    *("kyoto", "new", "r", "l", " ", "\t", "Bearer", "W/", '"', "*", "pictures", "ab" * 32),
]
