"""Program -> Python source: standalone reproducers, and the program part alone for reports.

Enters a recorded `Program`, leaves text; the same program gives the same text. Stands alone because every
report, store and verification prints programs through here. Pure: NumPy and the standard library, no files,
no processes, no framework. `naming` says how values are called, `literals` writes data exactly, `code` writes
calls, `checker` holds the part of a script that runs and compares, `script` puts the pieces together and
`findings` does so for a `Finding`.
"""

from __future__ import annotations

from autotest.emission.findings import emit
from autotest.emission.naming import constants, names, observables
from autotest.emission.script import Script, program_text, reproducer

__all__ = ["Script", "constants", "emit", "names", "observables", "program_text", "reproducer"]
