"""Runs tests by Bazel and counts them: what passed and failed by its events,
what single tests skipped by the XML that each leaves."""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BATCH = 16  # of tests with sanitizers
# "path/x_test.cpp:12", which GoogleTest puts before a reason.
PLACE = re.compile(r"^\S+:\d+\s+")
# A script's line, or unittest's `test_a (x.T) ... skipped 'why'`.
SCRIPT_SKIP = re.compile(r"^SKIP(?:PED)?\b:?\s*(.*)$", re.M)
VERBOSE_SKIP = re.compile(r"^(\w+) \(.*\.\.\. skipped ['\"](.*)['\"]$", re.M)
UNITTEST_SKIPS = re.compile(r"^OK \(.*?skipped=(\d+)", re.M)


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the last line of a killed run


def read_events(path):
    """The verdict for each test target of a build event file.

    Only a summary that says PASSED passes: a target that did not build, or
    that a broken build never reached, has none.
    """
    verdicts = collections.OrderedDict()
    for event in read_lines(path):
        ident = event.get("id", {})
        if "targetConfigured" in ident:
            if "testSize" in event.get("configured", {}):
                label = ident["targetConfigured"]["label"]
                verdicts.setdefault(label, False)
        elif "testSummary" in ident:
            # A run that was cut off has ids without summaries.
            summary = event.get("testSummary", {})
            label = ident["testSummary"]["label"]
            verdicts[label] = summary.get("overallStatus") == "PASSED"
    return verdicts


def read_reports(path):
    """(label, the path of its XML) of each run of a test, cached ones too."""
    for event in read_lines(path):
        label = event.get("id", {}).get("testResult", {}).get("label")
        for file in event.get("testResult", {}).get("testActionOutput", []):
            uri = file.get("uri", "")
            if file.get("name") == "test.xml" and uri.startswith("file://"):
                yield label, urllib.parse.unquote(uri[len("file://"):])


def googletest_skips(root):
    for case in root.iter("testcase"):
        skipped = case.find("skipped")
        if skipped is None:
            continue
        why = skipped.get("message") or skipped.text or ""
        yield (f"{case.get('classname')}.{case.get('name')}",
               PLACE.sub("", why.strip()))


def text_skips(text):
    """(name, reason) by what a script or a unittest prints."""
    named = VERBOSE_SKIP.findall(text)
    yield from named
    scripts = SCRIPT_SKIP.findall(text)
    for why in scripts:
        yield "", why
    count = sum(map(int, UNITTEST_SKIPS.findall(text)))
    for _ in range(count - len(named) - len(scripts)):
        yield "", "a test of Python that says no reason"


def read_skips(path):
    """The tests that an XML calls skipped. If it cannot be read, none is known
    to be skipped."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    try:
        root = xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError:
        # Bazel's XML around a script's output is malformed in some versions.
        return list(text_skips(text))
    if any(case.get("classname") for case in root.iter("testcase")):
        return list(googletest_skips(root))
    return list(text_skips("\n".join(t for t in root.itertext())))


def bazel_test(tally, name, options, targets):
    with tempfile.TemporaryDirectory() as folder:
        events = os.path.join(folder, "events.json")
        command = ["bazel", "test", "--keep_going",
                   f"--build_event_json_file={events}", *options]
        if not sys.stdout.isatty():
            command.append("--show_progress_rate_limit=30")
        command += ["--", *targets]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        there = os.path.exists(events)
        verdicts = read_events(events) if there else {}
        reports = list(read_reports(events)) if there else []
    suffix = f" ({name})" if name else ""
    for label, ok in verdicts.items():
        tally.add(label + suffix, ok)
    for label, path in reports:
        if not os.path.exists(path):
            continue
        for test, why in read_skips(path):
            tally.skip(" ".join(filter(None, [label + suffix, test])), why)
    # 4: no target was a test. Any other failure must show in the count, even
    # if no single test can be named for it.
    if code not in (0, 4) and all(verdicts.values()):
        tally.add(f"bazel test{suffix}: exit {code}", False)


def bazel_lines(*arguments):
    return subprocess.run(["bazel", *arguments], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout.split()


def share_of(tests, share):
    """The tests of share (i, n) of sorted ones."""
    i, n = share
    return tests[i::n]


def sanitized_test(tally, name, options, targets, share=(0, 1)):
    """Some tests at a time. A program is 400 MB with its checks, and there are
    two hundred: those that have run go before the next are linked."""
    folder, = bazel_lines("info", *options[:1], "bazel-bin")
    tests = share_of(
        sorted(bazel_lines("query", f"tests(set({' '.join(targets)}))")), share)
    for begin in range(0, len(tests), BATCH):
        batch = tests[begin:begin + BATCH]
        bazel_test(tally, name, options, batch)
        for label in batch:
            program = os.path.join(folder, label[2:].replace(":", "/"))
            if os.path.exists(program):
                os.remove(program)
