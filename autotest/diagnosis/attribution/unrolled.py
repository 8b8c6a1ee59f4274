"""Shows a failure of a Sequential in its layers, each called on its own."""

from __future__ import annotations

import dataclasses

from autotest.base.settings import Settings
from autotest.frameworks import Pair
from autotest.program.sequentials import with_layers_unrolled
from autotest.replaying.agreement import Agreement, agree


def on_layers(agreement: Agreement, pair: Pair, settings: Settings) -> Agreement:
    """Return the same failure with each layer of a Sequential called on its own, so that it can be named, if possible.

    Otherwise return `agreement` unchanged.
    """
    program, first = with_layers_unrolled(agreement.program), agreement.mismatches[0]
    if program is agreement.program:
        return agreement
    found = agree(program, pair, settings)
    alike = [item for item in found.mismatches if (item.symptom, item.stage) == (first.symptom, first.stage)]
    others = [item for item in found.mismatches if item not in alike]
    return dataclasses.replace(found, mismatches=[*alike, *others]) if alike else agreement
