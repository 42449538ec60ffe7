"""The methods and splices that reports offer. It imports nothing: the edge checks questions by it without numpy."""

import re

# Whether it weights items by the units sold.
METHODS: dict[str, bool] = {
    "jevons": False,
    "dutot": False,
    "carli": False,
    "harmonic": False,
    "cswd": False,
    "laspeyres": True,
    "paasche": True,
    "fisher": True,
    "tornqvist": True,
    "walsh": True,
    "geks-jevons": False,
    "geks-fisher": True,
    "geks-tornqvist": True,
    "geks-walsh": True,
    "tpd": False,
    "geary-khamis": True,
}
DEFAULT_METHOD = "geks-jevons"
DEFAULT_AGGREGATED = "jevons"
"""Of elementary indices that are aggregated: as statistical offices do."""
UNITS_NEEDED = "weights items by units sold"
OTHER_METHOD = f"choose another method, such as {DEFAULT_METHOD}"
ALIASES = {"ccdi": "geks-tornqvist", "geks": "geks-fisher", "wtpd": "tpd", "gk": "geary-khamis"}
SPLICES = (
    "movement",
    "window",
    "half",
    "mean",
    "window-published",
    "half-published",
    "mean-published",
    "fbew",
    "fbmw",
)
DEFAULT_SPLICE = "mean"
MATCHES = ("channel", "item")
DEFAULT_MATCH = "channel"


def offered_method(text: str) -> str | None:
    """Return the name of a method by any usual spelling: GEKS_Törnqvist, ccdi; None where it is not offered."""
    name = re.sub(r"[\s_]+", "-", text.strip().lower()).replace("ö", "o").replace("(ccdi)", "")
    name = ALIASES.get(name, name)
    return name if name in METHODS else None
