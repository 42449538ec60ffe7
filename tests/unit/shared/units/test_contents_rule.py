"""Contents that are kept beside items were read by the rule of today: another answer has another number."""

import csv
import gzip
import hashlib

from deploy.ctl.demo import DATA
from shared.units.names import CONTENTS_RULE, contents

# Of each version of the rule the digest of what it says of the demo's names. A change of an answer changes the digest:
# then raise CONTENTS_RULE in shared/units/names.py, so that kept contents are read anew, and write its digest here.
DIGESTS = {1: "82ffb0d094f756b61883a0159a4718751163016ed4280ac7f2fe93a056930c22"}


def test_an_answer_changes_only_with_the_version_of_the_rule() -> None:
    digest = hashlib.sha256()
    with gzip.open(DATA / "hk_pricewatch.csv.gz", "rt", encoding="utf-8") as file:
        names = sorted({row["Product Name"] for row in csv.DictReader(file)})
    for name in names:
        for content in contents(name, {}):
            digest.update(f"{name}|{content.per}|{content.amount}\n".encode())
    assert DIGESTS[CONTENTS_RULE] == digest.hexdigest()
