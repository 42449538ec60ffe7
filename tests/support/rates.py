"""A table of exchange rates for tests: made-up numbers in the form of the European Central Bank, with its gaps."""

from pathlib import Path

from shared.settings.settings import Settings
from workers.ingest.rates.load_rates import RateLoad, RateTerms, load

# 2026-07-04 and 05 are a weekend.
HISTORY = (
    "Date,USD,JPY,HKD,CYP,\n"
    "2026-07-06,1.1533,171.02,9.0410,N/A,\n"
    "2026-07-03,1.1520,170.25,8.9901,N/A,\n"
    "2026-07-02,1.1497,169.9,8.9642,N/A,\n"
    "2026-06-30,1.1501,169.5,8.9700,N/A,\n"
    "2026-06-29,1.1477,169.1,8.9533,N/A,\n"
    "2026-05-29,1.1402,168.3,8.9011,N/A,\n"
    "2026-04-30,1.1377,167.9,8.8802,N/A,\n"
    "2026-03-31,1.1301,166.6,8.8101,N/A,\n"
)


def load_rates(settings: Settings, folder: Path, content: str = HISTORY, name: str = "ecb") -> RateLoad:
    """Load a file of rates."""
    path = folder / "eurofxref-hist.csv"
    path.write_text(content)
    return load(settings, RateTerms(name), path)
