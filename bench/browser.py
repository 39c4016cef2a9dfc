"""A browser without a window, for scripts that look at pages."""
import base64
import json
import os
import shutil
import subprocess
import time

PATIENCE = 60  # seconds, for each thing that is waited for


class Browser:
    """Chromium, controlled by the DevTools protocol over a pair of pipes."""

    def __init__(self, folder):
        program = shutil.which("chromium")
        if not program:
            raise SystemExit("there is no chromium: apt-get install chromium")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def take_pipes():  # the browser reads from 3 and writes to 4
            saved = [os.dup(to_browser), os.dup(from_browser)]
            for number, descriptor in zip((3, 4), saved):
                os.dup2(descriptor, number)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=take_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.received = b""
        self.number = 0
        self.session = None
        self.events = []
        self.width = 0

    def read(self):
        while b"\0" not in self.received:
            more = os.read(self.input, 1 << 16)
            if not more:
                raise SystemExit("chromium has ended")
            self.received += more
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.output, json.dumps(request).encode() + b"\0")
        while (reply := self.read()).get("id") != self.number:
            self.events.append(reply)
        if "error" in reply:
            raise SystemExit(f"chromium: {method}: {reply['error']['message']}")
        return reply["result"]

    def open(self, url, width=900, height=700):
        self.width = width
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=url)

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait_for(self, expression):
        end = time.monotonic() + PATIENCE
        while not self.value(expression):
            if time.monotonic() > end:
                raise SystemExit(f"waited {PATIENCE} s for {expression}; the page says: "
                                 f"{self.value('document.body.innerText')}")
            time.sleep(0.05)

    def click(self, selector):
        box = self.value(f"(() => {{ const e = document.querySelector('{selector}'); e.scrollIntoView(); "
                         "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def type_into(self, selector, text):
        self.click(selector)
        self.call("Input.insertText", text=text)

    def picture(self, height=None):
        """Returns a PNG of the page from its top: the whole page, or this many pixels of it."""
        height = height or self.value("document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": self.width, "height": height, "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", clip=clip,
                                          captureBeyondViewport=True)["data"])

    def close(self):
        self.process.terminate()
        self.process.wait()
