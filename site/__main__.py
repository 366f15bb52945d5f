"""Makes a site of operators and guides that needs no network and no server.

It reads what `sygen describe` writes from its standard input. `sygen site`
runs it, with the same options.
"""

import argparse
import json
import os
import sys

try:
    from render import Site
except ModuleNotFoundError as missing:
    sys.exit(f"sygen: error: {sys.executable} has no module '{missing.name}': "
             "apt-get install python3-jinja2 python3-markdown-it "
             "python3-pygments")

from facts import read_facts, read_timings
from guides import Guides
from problems import Problems
from reference import Reference


def options():
    parser = argparse.ArgumentParser(prog="sygen site", description=__doc__)
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--title", help="of the site; that of its guides")
    parser.add_argument("--guides", help="a folder of Markdown")
    parser.add_argument("--facts", help="the file that `sy facts` wrote")
    parser.add_argument("--timings",
                        help="the file that `./sy bench --peer --json` wrote")
    return parser.parse_args()


def main():
    args = options()
    problems = Problems()
    guides = Guides(args.guides, problems)
    facts = read_facts(args.facts, problems) if args.facts else {}
    timings = read_timings(args.timings, problems) if args.timings else []
    reference = Reference(json.load(sys.stdin), facts, timings)
    guides.read(lambda name: reference.pages.get(name, ""))
    if problems.found:
        sys.exit("\n".join(problems.lines()))
    title = args.title or guides.name or "Operators"
    try:
        count = Site(title, reference, guides).write(args.folder)
    except OSError as e:
        sys.exit(f"{e.filename}: error: the file cannot be written: "
                 f"{e.strerror}")
    print(os.path.join(args.folder, f"index.html, {count} files"))


if __name__ == "__main__":
    main()
