"""Lines that people paste, and the name and description they are.

The browser's script is held to the same.
"""

import json
from pathlib import Path

LINES = json.loads((Path(__file__).parent / "lines.json").read_text())
