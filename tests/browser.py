"""A headless Chromium that tests drive over its DevTools pipe: real widths, real colours, real keys."""

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = (400, 800, 1280, 1920)
SCHEMES = ("light", "dark")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
PIPED = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
os.dup2(pipes[0], 3), os.dup2(pipes[1], 4)  # where Chromium expects them
os.execv(sys.argv[3], sys.argv[3:])
"""
PATIENCE = 120  # seconds until a browser that does not answer is a failure


class Browser:
    """One tab."""

    def __init__(self, profile):
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        piped = [sys.executable, "-c", PIPED, str(theirs_in), str(theirs_out)]
        command = [*piped, CHROMIUM, *FLAGS, f"--user-data-dir={profile}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, pass_fds=(theirs_in, theirs_out), **quiet)
        os.close(theirs_in)
        os.close(theirs_out)
        self._numbers, self._waiting, self._session = itertools.count(1), b"", None
        self.events = []
        tab = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """One command of the protocol; events that come meanwhile are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _receive(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            received = os.read(self._in, 1 << 20)
            assert received, "the browser has ended"
            self._waiting += received
        message, self._waiting = self._waiting.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1280, height=900, scheme="light", motion="no-preference"):
        """A file in a window of this size, for a reader who prefers this."""
        self.events.clear()
        phone = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        wished = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in wished.items()]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.until("document.readyState === 'complete' && !document.querySelector('.film:not([data-ready])')")
        self.settle()
        return self

    def settle(self):
        """Wait until what was asked for is drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def show(self, selector):
        """Scroll there."""
        where = "{ block: 'center', behavior: 'instant' }"
        self.evaluate(f"document.querySelector('{selector}').scrollIntoView({where})")
        self.settle()

    def evaluate(self, expression):
        """A value of the page; an error of its script is an error here."""
        options = {"returnByValue": True, "awaitPromise": True}
        found = self.call("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression):
        """Wait until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"never: {expression}"
            time.sleep(0.02)

    def press(self, key):
        """A key, down and up."""
        number = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, " ": 32, "Escape": 27}[key]
        named = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": number}
        down = {"type": "keyDown", "text": " "} if key == " " else {"type": "rawKeyDown"}
        self.call("Input.dispatchKeyEvent", **down, **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def point_at(self, x, y):
        """Move the mouse."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        """Press and release the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def complaints(self):
        """What stood on the console, what a script threw, and what was fetched from elsewhere."""
        self.evaluate("1")
        found = [event for event in self.events if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
        found += [event for event in self.events if event["method"] == "Runtime.consoleAPICalled"]
        asked = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return found + [e for e in asked if not e["params"]["request"]["url"].startswith(("file:", "data:"))]

    def tree(self):
        """What a screen reader is told, node by node."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [node for node in nodes if not node["ignored"] and "name" in node]

    def measure(self):
        """What is hidden, too small, crossed by other text or too pale: each a list of descriptions."""
        return self.evaluate(MEASURE)

    def check(self, path):
        """A page that every reader can read: at every width, in light and in dark, silent and alone."""
        for width in WIDTHS:
            for scheme in SCHEMES:
                found = self.open(path, width, scheme=scheme).measure()
                assert not any(found.values()), f"{width} px, {scheme}: {found}"
                assert self.complaints() == [], f"{width} px, {scheme}"

    def screenshot(self, path, whole=True):
        """A PNG file."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def close(self):
        """End the browser that was started here."""
        self._session = None
        with contextlib.suppress(OSError, AssertionError):
            self.call("Browser.close")
        os.close(self._out)
        os.close(self._in)
        self._process.wait(timeout=PATIENCE)


MEASURE = r"""
(() => {
  const name = e => `${e.tagName}.${e.getAttribute("class") || ""} ${(e.textContent || "").trim().slice(0, 50)}`;
  const visible = e => e.checkVisibility({ visibilityProperty: true }) && !e.closest("[hidden], noscript, thead");
  const all = [...document.body.querySelectorAll("*")].filter(visible);
  const wide = document.documentElement.clientWidth;
  const hidden = [];
  if (document.documentElement.scrollWidth > wide) hidden.push(`page is ${document.documentElement.scrollWidth} wide`);
  for (const e of all) {
    const box = e.getBoundingClientRect();
    if (!box.width) continue;
    if (box.right > wide + 1 || box.left < -1) hidden.push(`beyond the window: ${name(e)}`);
    const over = getComputedStyle(e).overflowX;
    if (over !== "visible" && e.scrollWidth > e.clientWidth + 1 && !(e instanceof SVGElement))
      hidden.push(`scrolls: ${name(e)}`);
  }
  const small = [];
  for (const text of document.querySelectorAll("svg text")) {
    if (!visible(text) || !text.textContent.trim()) continue;
    const box = text.getBoundingClientRect(), frame = text.closest("svg").getBoundingClientRect();
    const beyond = [frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom];
    if (Math.max(...beyond) > 1)
      hidden.push(`cut off in a figure: ${text.textContent}`);
    const scale = Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b);
    const size = parseFloat(getComputedStyle(text).fontSize) * scale;
    if (size < 8) small.push(`${size.toFixed(1)} px: ${text.textContent}`);
  }
  for (const e of all)
    if (!(e instanceof SVGElement) && e.textContent.trim() && parseFloat(getComputedStyle(e).fontSize) < 12)
      small.push(`${getComputedStyle(e).fontSize}: ${name(e)}`);
  const crossed = [];
  for (const svg of document.querySelectorAll("svg")) {
    const boxes = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim())
      .map(text => [text.textContent.trim(), text.getBoundingClientRect()]);
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
      const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (wide > 1 && high > 0.3 * Math.min(p.height, q.height)) crossed.push(`${a} and ${b}`);
    }));
  }
  const light = color => {
    const [r, g, b] = color.match(/[\d.]+/g).slice(0, 3)
      .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = e => {
    for (; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (!/rgba\(.*, 0\)|transparent/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const pale = [];
  for (const e of all) {
    const own = [...e.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!own || ["SCRIPT", "STYLE"].includes(e.tagName)) continue;
    const style = getComputedStyle(e), ink = e instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(ink), light(behind(e))].sort((p, q) => q - p), contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) pale.push(`${contrast.toFixed(2)}: ${name(e)}`);
  }
  return { hidden, small, crossed, pale };
})()
"""
