"""Lines that people paste, with the expected name and description.

The browser's script is tested with the same lines.
"""

import json
from pathlib import Path

LINES = json.loads((Path(__file__).parent / "lines.json").read_text())
