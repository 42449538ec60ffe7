"""Pages for people: templates with everything escaped, under a policy that lets no other host and no inline code in."""

from pathlib import Path

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HTML = "text/html; charset=utf-8"
PAGE_FIELDS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
_FIELDS = {**PAGE_FIELDS, "Cache-Control": "public, max-age=300"}


class Templates:
    """The templates of one folder, each compiled at its first use: make them once for a process.

    Everything is escaped, but for Markdown, which knows no escaping of HTML: what is inserted there is ours, an
    operator's or a setting's. An unknown name raises, and every template may use `names`.
    """

    def __init__(self, folder: Path, *, lstrip_blocks: bool = False, **names: object) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(folder),
            autoescape=select_autoescape(disabled_extensions=("md",), default=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=lstrip_blocks,
        )
        self._environment.globals.update(names)

    def compile(self) -> None:
        """Compile every template, as its first use would: that takes tens of milliseconds for some."""
        for name in self._environment.list_templates():
            self._environment.get_template(name)

    def page(self, name: str, **values: object) -> web.Response:
        """Return a filled-in page; an unknown variable in it raises."""
        return web.Response(text=self.text(name, **values), content_type="text/html", headers=_FIELDS)

    def text(self, name: str, **values: object) -> str:
        """Return a filled-in page's text."""
        return self._environment.get_template(name).render(**values)


PAGES = Templates(Path(__file__).parents[1] / "docs" / "templates")


def wants_html(request: web.Request) -> bool:
    """Return whether a browser asks: browsers name text/html in `Accept`, and programs do not."""
    return "text/html" in request.headers.get("Accept", "")
