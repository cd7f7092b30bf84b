"""`papers`: the papers' tables and figures, as numbers, on a user's files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import get_args

from ..errors import InvalidOption
from ..files import shown_progress
from ..finding.wording import one_line
from ..installation import PROGRAM, ROOT
from ..options import add_flags, from_flags, pair
from ..schema import Selection

DEMO = tuple(
    ROOT / "data" / f"demo_{kind}.csv.gz" for kind in ("votes", "fuser", "scores", "rankings")
)
DONE = 0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    from ..auditing.options import AuditOptions
    from ..importers import ReadOptions, formats
    from ..questions.boards.anchored import Prior

    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="of votes, scores or rankings (default: the demo)"
    )
    parser.add_argument(
        "--item", action="append", metavar="NAME", help='such as "RAEE Table 2", or a paper: BTD'
    )
    parser.add_argument("--all", action="store_true", help="the table of every item")
    parser.add_argument("--count", action="store_true", help="how many items stand whole here")
    parser.add_argument("--csv", metavar="OUT", help="write the tables as one CSV file")
    parser.add_argument(
        "--by", default="category", metavar="COLUMN", help="column of tasks (category)"
    )
    parser.add_argument("--judge", help="of tables about one judge (that with most votes on gold)")
    parser.add_argument(
        "--prior", choices=get_args(Prior), default="jeffreys", help="of boards (jeffreys)"
    )
    parser.add_argument(
        "--votes", type=int, nargs="+", metavar="N", help="votes a comparison (2 4 8 12)"
    )
    parser.add_argument("--gold", help="what is true: given, humans, or a judge's name")
    parser.add_argument("--where", metavar="COLUMN=VALUE", action="append", help="only these votes")
    add_flags(parser, ReadOptions, formats=", ".join(formats()))
    parser.add_argument("--isolated", action="store_true", help="take no options of this folder")
    add_flags(parser, AuditOptions)


def papers(options: argparse.Namespace) -> int:
    """Run the command."""
    from ..auditing.options import AuditOptions
    from ..auditing.sources import read_sources
    from ..importers import ReadOptions, read
    from ..papers.asked import Settings
    from ..papers.made import counted, in_text, items_named, listed, maker
    from ..papers.planted import PLANTED
    from ..store import Store

    if options.count:
        print(counted())
        return DONE
    items = items_named(options.item or ())
    if not options.item and not options.all:
        print(
            f'{listed()}\n\nOne of them on your file: {PROGRAM} papers FILE --item "RAEE Table 2"'
        )
        return DONE
    if not (options.item or options.all) and options.csv:
        raise InvalidOption("--csv: name an item, or ask for --all.")
    sizes = tuple(options.votes or Settings().sizes)
    if min(sizes) < 1:
        raise InvalidOption(f"--votes {sizes}: use 1 or more.")
    settings = Settings(by=options.by, judge=options.judge, prior=options.prior, sizes=sizes)
    with shown_progress() as progress:
        if options.files:
            files = [(Path(name).name, Path(name)) for name in options.files]
            readings = read_sources(files, from_flags(ReadOptions, options), progress=progress)
        else:
            readings = read([(path.name, path) for path in DEMO])
    selection = Selection(
        where=tuple(pair(text, "--where") for text in options.where or ()), gold=options.gold
    )
    frames = []
    with (
        Store.holding(readings) as store,
        maker(store, selection, from_flags(AuditOptions, options), settings) as made,
    ):
        shown: dict[int, str] = {}
        for item in items:
            found = made(item)
            planted = "" if options.files else PLANTED.get(item.name, "")
            above = shown.setdefault(id(item.table), item.name)
            print(
                in_text(found, planted=planted, shown_at="" if above == item.name else above),
                flush=True,
            )
            if found.table is not None:
                frames.append(found.table.assign(item=item.name))
    if options.csv:
        import pandas as pd

        if not frames:
            print(f"{PROGRAM}: no table to write", file=sys.stderr)
            return DONE
        pd.concat(frames, ignore_index=True).to_csv(options.csv, index=False)
        print(one_line(options.csv))
    return DONE
