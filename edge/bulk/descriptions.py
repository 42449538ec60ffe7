"""Descriptions of a release for machines: Croissant 1.1, schema.org Dataset and DCAT 3, each as JSON-LD. Pure."""

from collections.abc import Callable
from datetime import datetime
from operator import itemgetter
from typing import NamedTuple, TypedDict

from shared.bulk.schema import LIST, MEDIA_TYPE, RELEASED, ColumnDocument, KeptReleaseFile, StatisticValue
from shared.clock import rfc3339

TITLE, PUBLISHER = "Item Index", "Item Index"
_DAYS_OF_RANGES_MAX = 1_000
_TERMS = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject fileSet format "
    "includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace "
    "samplingRate separator source subField transform"
)
_CROISSANT_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "description": {"@container": "@language"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
_DCAT_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "prov": "http://www.w3.org/ns/prov#",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_CROISSANT_TYPES = {
    "string": "sc:Text",
    "date": "sc:Date",
    "timestamp": "sc:DateTime",
    "integer": "cr:Int32",
    "long": "cr:Int64",
    "double": "cr:Float64",
    LIST: "sc:Text",
}


Statistics = dict[str, tuple[StatisticValue, StatisticValue, int]]
"""Of each column its least and greatest value, and how many are null."""


class SourceTerms(TypedDict):
    """A source of a release and its terms."""

    name: str
    title: str
    license: str
    url: str | None
    attribution: str | None


class ReleaseProfile(TypedDict, total=False):
    """What only descriptions say of a release: its sources, the days of its first and last observation, those between.

    `since` is the first release from which changes lead to this one.
    """

    sources: list[SourceTerms]
    days: tuple[str, str] | None
    missing_days: list[tuple[str, str]]
    since: int


class Described(NamedTuple):
    """A release as descriptions need it; `profile` is None for one that was published before profiles were kept."""

    dataset: str
    columns: list[ColumnDocument]
    data_version: int
    created_at: datetime
    rows: int
    bytes: int
    files: list[KeptReleaseFile]
    profile: ReleaseProfile | None
    address: str
    page: str

    @property
    def _profile(self) -> ReleaseProfile:
        return self.profile if self.profile is not None else {}

    @property
    def sources(self) -> list[SourceTerms]:
        """The sources with their terms, by name."""
        return self._profile.get("sources", [])

    @property
    def period(self) -> str | None:
        """The days of the first and last observation, as an ISO 8601 interval."""
        first, last = self._profile.get("days") or (None, None)
        return f"{first}/{last}" if first else None

    @property
    def missing_periods(self) -> list[str]:
        """Ranges of days between these that have no observation, as ISO 8601 intervals."""
        return [f"{first}/{last}" for first, last in self._profile.get("missing_days", [])]

    @property
    def licenses(self) -> list[str]:
        """The licences of the sources, each once."""
        return sorted({source["license"] for source in self.sources})

    @property
    def statistics(self) -> Statistics:
        """The least and greatest value of each column that files keep these of, and how many are null."""
        found: Statistics = {}
        kept = [file.statistics for file in self.files]
        for column in [str(column["name"]) for column in self.columns]:
            least, most = (
                [value for statistics in kept if (value := ends(statistics).get(column)) is not None]
                for ends in (itemgetter("minValues"), itemgetter("maxValues"))
            )
            nulls = sum(statistics["nullCount"].get(column, 0) for statistics in kept)
            if least and most:
                found[column] = (min(least), max(most), nulls)
        return found


def croissant(release: Described) -> dict[str, object]:
    """Return the description as Croissant 1.1 with the vocabulary for responsible AI."""
    files, records = _croissant_files(release), _records(release)
    return {
        "@context": _CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        **_common(release),
        "citeAs": f"{TITLE}, {release.dataset}, data_version {release.data_version}",
        **({"rai:dataCollectionTimeframe": release.period.split("/")} if release.period else {}),
        **({"rai:dataCollectionMissingData": _missing_sentence(release)} if release.missing_periods else {}),
        "distribution": files,
        # A release without rows has no file that records could be read from.
        **({"recordSet": [records]} if release.files else {}),
    }


def schema_org(release: Described) -> dict[str, object]:
    """Return the description as a Dataset of schema.org."""
    statistics = release.statistics
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        **_common(release),
        "measurementTechnique": "Observed offers and sales of the sources in isBasedOn",
        "variableMeasured": [_variable(column, statistics) for column in release.columns],
        "distribution": [
            {
                "@type": "DataDownload",
                "name": file.name,
                "contentUrl": _url(release, file),
                "contentSize": f"{file.bytes} B",
                "encodingFormat": MEDIA_TYPE,
                "sha256": file.sha256,
            }
            for file in release.files
        ],
    }


def dcat(release: Described) -> dict[str, object]:
    """Return the description as a dcat:Dataset of DCAT 3."""
    first, last = release.period.split("/") if release.period else (None, None)
    days = {"dcat:startDate": _typed_value(first, "date"), "dcat:endDate": _typed_value(last, "date")}
    return {
        "@context": _DCAT_CONTEXT,
        "@id": release.address,
        "@type": "dcat:Dataset",
        "dct:identifier": release.address,
        "dct:title": f"{TITLE}: {release.dataset}",
        "dct:description": RELEASED[release.dataset].title,
        "dct:issued": _typed_value(rfc3339(release.created_at), "dateTime"),
        "dct:publisher": {"@type": "foaf:Organization", "foaf:name": PUBLISHER},
        "dcat:version": str(release.data_version),
        "dcat:landingPage": {"@id": release.page},
        **({"dct:temporal": {"@type": "dct:PeriodOfTime", **days}} if first else {}),
        "prov:wasDerivedFrom": [
            {
                "@type": "dcat:Dataset",
                "dct:title": source["title"],
                "dct:rights": {"@type": "dct:RightsStatement", "dct:description": source["license"]},
                **({"dct:bibliographicCitation": source["attribution"]} if source["attribution"] else {}),
                **({"dcat:landingPage": {"@id": source["url"]}} if source["url"] else {}),
            }
            for source in release.sources
        ],
        "dcat:distribution": [
            {
                "@id": _url(release, file),
                "@type": "dcat:Distribution",
                "dct:title": file.name,
                "dcat:accessURL": {"@id": release.address},
                "dcat:downloadURL": {"@id": _url(release, file)},
                "dcat:mediaType": {"@id": f"https://www.iana.org/assignments/media-types/{MEDIA_TYPE}"},
                "dcat:byteSize": _typed_value(str(file.bytes), "nonNegativeInteger"),
                "spdx:checksum": {
                    "@type": "spdx:Checksum",
                    "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
                    "spdx:checksumValue": _typed_value(file.sha256, "hexBinary"),
                },
            }
            for file in release.files
        ],
    }


FORMS: dict[str, Callable[[Described], dict[str, object]]] = {
    "croissant": croissant,
    "schema-org": schema_org,
    "dcat": dcat,
}


def _common(release: Described) -> dict[str, object]:
    return {
        "name": f"{TITLE}: {release.dataset}",
        "description": RELEASED[release.dataset].title,
        "url": release.page,
        "identifier": release.address,
        "version": f"{release.data_version}.0.0",
        "datePublished": rfc3339(release.created_at),
        "license": release.licenses,
        "publisher": {"@type": "Organization", "name": PUBLISHER, "url": release.page},
        "creator": {"@type": "Organization", "name": PUBLISHER, "url": release.page},
        "size": f"{release.rows} rows",
        "isAccessibleForFree": False,
        **({"temporalCoverage": release.period} if release.period else {}),
        "isBasedOn": [
            {
                "@type": "Dataset",
                "name": source["title"],
                "identifier": source["name"],
                "description": f"The source `{source['name']}` of this release.",
                "license": source["license"],
                **({"creditText": source["attribution"]} if source["attribution"] else {}),
                **({"url": source["url"]} if source["url"] else {}),
            }
            for source in release.sources
        ],
    }


def _croissant_files(release: Described) -> list[dict[str, object]]:
    files: list[dict[str, object]] = [
        {
            "@type": "cr:FileObject",
            "@id": file.name,
            "name": file.name,
            "contentUrl": _url(release, file),
            "contentSize": f"{file.bytes} B",
            "encodingFormat": "application/x-parquet",
            "sha256": file.sha256,
        }
        for file in release.files
    ]
    # Not contained in anything: readers find the files beside the description, in a mirror of the release.
    whole: dict[str, object] = {
        "@type": "cr:FileSet",
        "@id": "files",
        "name": "files",
        "description": "All files of the release, beside this description.",
        "encodingFormat": "application/x-parquet",
        "includes": "*.parquet",
    }
    return [*files, whole] if files else []


def _records(release: Described) -> dict[str, object]:
    name, types = release.dataset, _CROISSANT_TYPES
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": RELEASED[name].title,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column['name']}",
                "name": f"{name}/{column['name']}",
                "description": column["description"],
                # An exact amount has no type of its own there: text keeps its digits.
                "dataType": types.get(column["type"], "sc:Text"),
                **({"isArray": True, "arrayShape": "-1"} if column["type"] == LIST else {}),
                "source": {"fileSet": {"@id": "files"}, "extract": {"column": column["name"]}},
            }
            for column in release.columns
        ],
    }


def _variable(column: ColumnDocument, statistics: Statistics) -> dict[str, object]:
    least, most, nulls = statistics.get(column["name"], (None, None, None))
    known = {"minValue": least, "maxValue": most, "value": f"{nulls} null"} if least is not None else {}
    return {"@type": "PropertyValue", "name": column["name"], "description": column["description"], **known}


def _missing_sentence(release: Described) -> str:
    ranges, more = release.missing_periods[:_DAYS_OF_RANGES_MAX], len(release.missing_periods) - _DAYS_OF_RANGES_MAX
    return f"Days without an observation: {', '.join(ranges)}{f' and {more} more ranges' if more > 0 else ''}"


def _typed_value(value: str | None, kind: str) -> dict[str, object]:
    return {"@value": value, "@type": f"xsd:{kind}"}


def _url(release: Described, file: KeptReleaseFile) -> str:
    return f"{release.address}/files/{file.name}"
