"""`itemindex generate`: believable data at any scale, loaded by the same path as any source."""

import tempfile
from pathlib import Path

import click
from rich.progress import Progress

from deploy.ctl.console import console, data_dir_option, json_option, report, settings
from deploy.ctl.loading import load_with_bar, show_summary, wait_for_index
from workers.generate.market import MAPPING, write
from workers.ingest.mapping import read


@click.command(epilog="Example: itemindex generate --items 1000000 --observations 10000000 --seed 7")
@click.option("--items", default=10_000, show_default=True, type=click.IntRange(1, 100_000_000))
@click.option("--observations", default=100_000, show_default=True, type=click.IntRange(1, 2_000_000_000))
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="The same seed gives the same data.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write a Parquet file (and its mapping beside it); load nothing."
)
@data_dir_option
@json_option
def generate(items: int, observations: int, seed: int, out: Path | None, data_dir: Path, as_json: bool) -> None:
    """Generate items, brands, categories and sales, and load them."""
    with tempfile.TemporaryDirectory(prefix="itemindex-") as folder:
        path = out or Path(folder) / "generated.parquet"
        with Progress(console=console, disable=as_json) as progress:
            task = progress.add_task("generating", total=observations)
            write(
                path,
                items=items,
                observations=observations,
                seed=seed,
                report_progress=lambda rows: progress.update(task, completed=rows),
            )
        mapping = path.with_suffix(".toml")
        mapping.write_text(MAPPING)
        if out is not None:
            report("written: {out}, and its mapping {mapping}", as_json=as_json, out=str(out), mapping=str(mapping))
            return
        chosen = settings(data_dir)
        summary = load_with_bar(chosen, read(mapping), [path], quiet=as_json)
        if summary.job_id is not None and not as_json:
            wait_for_index(chosen, summary.job_id)
        show_summary(summary, as_json=as_json)
