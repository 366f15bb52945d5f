"""Chromium by its DevTools protocol over a pipe, with the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT_S = 60


def find():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class BrowserError(Exception):
    pass


class Browser:
    """One window without a screen, for one thread.

    with Browser() as b: b.open("file:///…")
    """

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="sy-chromium-")
        to_read, self.commands = os.pipe()
        self.answers, to_write = os.pipe()
        # The protocol's pipes are 3 and 4 there.
        line = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", line, "chromium", find(), "--headless=new",
             "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-extensions",
             "--disable-component-update", "--force-color-profile=srgb",
             f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.last = 0
        self.buffer = b""
        self.problems = []  # what the console and the network complain of
        self.loaded = 0
        self.session = None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"]
                      if t["type"] == "page")
        self.session = self.call("Target.attachToTarget",
                                 targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        # The page acts as if the window were in front, which the clipboard asks
        # for.
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.commands)
        os.close(self.answers)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, deadline):
        """The next one, which may be None at the deadline."""
        while b"\0" not in self.buffer:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self.answers], [], [], wait)[0]:
                return None
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise BrowserError("the browser ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded += 1
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get(
                "description", details.get("text", "")))
        elif method == "Runtime.consoleAPICalled" and \
                params["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and \
                params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            self.problems.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "about:", "blob:")):
                self.problems.append(f"asks for {url}")

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self.message(deadline)
            if answer is None:
                raise BrowserError(f"{method}: no answer")
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def wait_for_load(self, before):
        deadline = time.monotonic() + TIMEOUT_S
        while self.loaded == before:
            message = self.message(deadline)
            if message is None:
                raise BrowserError("the page does not load")
            self.note(message)

    def open(self, url):
        before = self.loaded
        self.call("Page.navigate", url=url)
        self.wait_for_load(before)

    def run(self, script):
        """The value of an expression of JavaScript, awaited."""
        answer = self.call("Runtime.evaluate", expression=script,
                           awaitPromise=True, returnByValue=True,
                           userGesture=True)
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def until(self, condition, seconds=10):
        """Waits for an expression to hold; whether it does."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.run(f"!!({condition})"):
                    return True
            except BrowserError:
                pass  # between two pages
            time.sleep(0.05)
        return False

    def key(self, key, text=""):
        names = {"/": ("Slash", 191), "Enter": ("Enter", 13),
                 "ArrowDown": ("ArrowDown", 40), "ArrowUp": ("ArrowUp", 38),
                 "Escape": ("Escape", 27), "Tab": ("Tab", 9)}
        code, number = names[key]
        text = {"Enter": "\r", "/": "/"}.get(key, text)
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text,
                  **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def window(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png",
                         captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))
