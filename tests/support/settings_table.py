"""`python -m tests.support.settings_table`: the table of settings in the operators' guide, from the code."""

from deploy.ctl.reference import declared


def table() -> str:
    """Return the settings as a table in Markdown."""
    rows = ["| Variable | Meaning | Default |", "|---|---|---|"]
    for setting in declared():
        default = "secret" if setting["secret"] else f"`{setting['default']}`" if setting["default"] else "empty"
        rows.append(f"| `{setting['variable']}` | {setting['description']} | {default} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")
