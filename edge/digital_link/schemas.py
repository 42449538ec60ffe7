"""Parameters and answers of Digital Links, declared once."""

from marshmallow import EXCLUDE, INCLUDE, Schema, fields, validate


class DigitalLinkQuery(Schema):
    """Query of a Digital Link: attributes of the article, or anything else, which a link may take over."""

    class Meta:
        """Marshmallow's option: names that this schema does not declare are accepted."""

        unknown = EXCLUDE

    linkType = fields.Str(  # noqa: N815 - GS1's name
        validate=validate.Length(1, 200),
        metadata={
            "description": "`linkset` (or `all`) for all links, or a type of GS1's vocabulary",
            "example": "gs1:sustainabilityInfo",
        },
    )


class LinkObject(Schema):
    """One link of an article."""

    href = fields.Url(required=True)
    title = fields.Str(required=True)
    type = fields.Str(required=True)
    fwqs = fields.Bool(required=True, metadata={"description": "Whether the query of the request is passed on"})


class LinkContext(Schema):
    """The links of one anchor; each further member is a link type with its links."""

    anchor = fields.Url(required=True)
    itemDescription = fields.Str(required=True)  # noqa: N815 - GS1's name

    class Meta:
        """The members that are named by link types."""

        unknown = INCLUDE


class DigitalLinkset(Schema):
    """The links of an article (RFC 9264)."""

    linkset = fields.List(fields.Nested(LinkContext()), required=True)


class LinkNamespace(Schema):
    """A vocabulary of link types."""

    namespace = fields.Url(required=True)
    prefix = fields.Str(required=True)


class ResolverDescription(Schema):
    """The description file of a GS1-conformant resolver."""

    name = fields.Str(required=True)
    resolverRoot = fields.Url(required=True)  # noqa: N815 - GS1's names
    supportedPrimaryKeys = fields.List(fields.Str(), required=True)  # noqa: N815
    supportedLinkType = fields.List(fields.Nested(LinkNamespace()), required=True)  # noqa: N815
    linkTypeDefaultCanBeLinkset = fields.Bool(required=True)  # noqa: N815
    jsonLdContextLocation = fields.Url(required=True)  # noqa: N815
