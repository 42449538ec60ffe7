"""Former names of commands: they run with a warning for one version."""

from collections.abc import Mapping


def current_name(name: str, renamed: Mapping[str, str]) -> str:
    """Return a command's name today; warn on standard error if it was called by a former one."""
    current = renamed.get(name)
    if current is None:
        return name
    from deploy.ctl.console import errors  # only now: `--help` need not wait for it

    errors.say("itemindex: `{name}` is deprecated: use `{current}` instead", name=name, current=current)
    return current
