# SPDX-License-Identifier: Apache-2.0
"""The first settings of a guide, as its reader would copy them: guide_settings.py GUIDE"""
import pathlib
import sys
import textwrap

text = pathlib.Path(sys.argv[1]).read_text()
print(textwrap.dedent(text.partition("```toml\n")[2].partition("```")[0]))
