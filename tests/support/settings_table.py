"""`python -m tests.support.settings_table`: the table of settings in the operators' guides, from the code."""

from deploy.ctl.reference import declared_settings


def table() -> str:
    """Return the settings as a table in Markdown."""
    rows = ["| Variable | Meaning | Default |", "|---|---|---|"]
    for setting in declared_settings():
        default = "secret" if setting["secret"] else f"`{setting['default']}`" if setting["default"] else "empty"
        rows.append(f"| `{setting['variable']}` | {setting['description']} | {default} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")
