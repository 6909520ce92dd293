"""Hyper-parameters, each declared once: name, kind, default, range, choices, help and search range.

To add one, declare it in `settings.py` and add its constructor argument to `arguments.py`. The
checks, the options of ``dhne train`` and ``dhne tune``, config files, the documentation of `DHNE`
and the default search space follow from the declaration.

An argument left at None takes the preset's value. The batch size and the number of epochs follow
from the number of hyperedges, and the α of "plus" from the number of hyperedges per node (see
`Settings.for_network`); nothing is set per dataset.
"""

from .arguments import PARAMETERS, Arguments
from .declaration import Parameter, declared, parameter
from .presets import PRESETS, resolve_settings
from .rules import rule_alpha, rule_batch_size, rule_epochs
from .settings import Settings

__all__ = [
    "PARAMETERS",
    "PRESETS",
    "Arguments",
    "Parameter",
    "Settings",
    "declared",
    "parameter",
    "resolve_settings",
    "rule_alpha",
    "rule_batch_size",
    "rule_epochs",
]
