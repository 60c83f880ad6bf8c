"""Examples in the docs, to be run as they are printed."""

import re
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]


def examples(page, language="python"):
    pattern = rf"^ *```{language}\n(.+?)^ *```"
    blocks = re.findall(pattern, (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    return [dedent(block) for block in blocks]
