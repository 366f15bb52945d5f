"""The site in Chromium, from files: both widths, both themes, search, buttons.

Environment: SITE, a folder that `sygen site` wrote. Pictures go to
TEST_UNDECLARED_OUTPUTS_DIR, if that is set.
"""

import os
import re
import unittest

import browser

SITE = os.path.abspath(os.environ["SITE"])
OUTPUTS = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
WIDTHS = {1280: 900, 390: 844}
PAGES = ["index.html", "operators.html", "guides/readme.html",
         "guides/backends.html", "guides/expressions.html", "ops/softplus.html",
         "ops/cumsum.html", "ops/convolution.html", "families/activation.html"]
# Every element with text of its own whose contrast is too low: WCAG's formula.
CONTRAST = """(() => {
  const luminance = (c) => {
    const [r, g, b] = c.map((v) => v / 255).map(
      (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const canvas = new OffscreenCanvas(1, 1).getContext("2d",
                                                      {willReadFrequently: true});
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor);
      if (c[3] > 200) return c.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const bad = new Set();
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("svg") || !e.checkVisibility({opacityProperty: true})) continue;
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const a = luminance(rgba(getComputedStyle(e).color).slice(0, 3));
    const b = luminance(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
  }
  return [...bad];
})()"""


@unittest.skipUnless(browser.find(), "SKIPPED: there is no Chromium")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.window(1280)
        self.open("index.html")
        self.run_script("localStorage.clear()")

    def tearDown(self):
        problems, self.browser.problems = self.browser.problems, []
        self.assertEqual(problems, [])

    def window(self, width, dark=False):
        self.browser.window(width, WIDTHS[width], dark)

    def open(self, page):
        self.browser.open(f"file://{SITE}/{page}")

    def run_script(self, script):
        return self.browser.run(script)

    def until(self, condition):
        self.assertTrue(self.browser.until(condition), condition)

    def arrive(self, page):
        self.until(f"location.pathname.endsWith('/{page}') && "
                   "document.readyState === 'complete'")

    def search(self, text):
        """Searches with keys alone, up to the results."""
        self.browser.key("/")
        self.until("document.activeElement.type === 'search'")
        self.browser.type(text)
        self.until("document.querySelector('.results:not([hidden]) li')")

    def test_pages_fit_and_can_be_read(self):
        for width in WIDTHS:
            for dark in (False, True):
                self.window(width, dark)
                for page in PAGES:
                    with self.subTest(page=page, width=width, dark=dark):
                        self.open(page)
                        wide = self.run_script(
                            "document.documentElement.scrollWidth")
                        self.assertLessEqual(wide, width)
                        self.assertEqual(self.run_script(CONTRAST), [])
                        self.picture(page, width, dark)

    def picture(self, page, width, dark):
        if OUTPUTS:
            name = re.sub(r"\W", "_", page.removesuffix(".html"))
            self.browser.screenshot(os.path.join(
                OUTPUTS, f"{name}_{width}_{'dark' if dark else 'light'}.png"))

    def test_search_finds_an_operator_by_keys_alone(self):
        for page in ("index.html", "ops/cumsum.html", "guides/readme.html"):
            self.open(page)
            self.search("softplus")
            self.browser.key("Enter")
            self.arrive("ops/softplus.html")
            self.assertEqual(self.first_word(), "softplus")

    def first_word(self):
        return self.run_script(
            "document.querySelector('h1').textContent.trim().split(/\\s/)[0]")

    def found(self, text):
        self.open("index.html")
        self.search(text)
        return self.run_script(
            "[...document.querySelectorAll('.results:not([hidden]) b')]"
            ".map((e) => e.textContent)")

    def test_search_puts_what_was_meant_first(self):
        for text, first in {"softmax": "softmax", "softpl": "softplus",
                            "sy::cumsum": "cumsum", "add_": "add",
                            "write a backend": "Write a backend",
                            "add an operator": "Add an operator",
                            "determinism": "Determinism",
                            "smooth approximation": "softplus"}.items():
            with self.subTest(text=text):
                self.assertIn(first, self.found(text)[:3])
        self.assertEqual(self.found("softplus")[0], "softplus")
        self.assertEqual(self.found("qqqq"), [])
        # Not a pattern, not HTML.
        self.assertEqual(self.found("(<b>["), [])

    def test_arrows_choose_a_result(self):
        self.search("softmax")
        chosen = ("document.querySelector('[aria-selected=true] b').textContent")
        first = self.run_script(chosen)
        self.browser.key("ArrowDown")
        second = self.run_script(chosen)
        self.assertNotEqual(first, second)
        self.assertEqual(self.run_script(
            "document.getElementById(document.activeElement.getAttribute("
            "'aria-activedescendant')).querySelector('b').textContent"), second)
        self.browser.key("ArrowUp")
        self.assertEqual(self.run_script(chosen), first)
        self.browser.key("Escape")
        self.until("document.querySelector('.results').hidden")

    def test_copy_button_copies_the_code(self):
        self.open("guides/nn.html")
        self.browser.call("Browser.grantPermissions", permissions=[
            "clipboardReadWrite", "clipboardSanitizedWrite"])
        code = self.run_script("document.querySelector('pre').textContent")
        self.run_script("document.querySelector('.copy').click()")
        self.until("document.querySelector('.copy.done')")
        self.assertEqual(
            self.run_script("navigator.clipboard.readText()"), code)

    def ground(self):
        return self.run_script(
            "getComputedStyle(document.body).backgroundColor")

    def test_theme_is_switched_and_remembered(self):
        grounds = {}
        for system in (False, True):
            self.window(1280, dark=system)
            for theme in ("light", "dark", "auto"):
                while self.run_script(
                        "document.documentElement.dataset.theme") != theme:
                    self.run_script("document.querySelector('.theme').click()")
                self.open("ops/softplus.html")
                self.assertEqual(self.run_script(
                    "document.documentElement.dataset.theme"), theme)
                grounds[system, theme] = self.ground()
        light, dark = grounds[False, "light"], grounds[False, "dark"]
        self.assertNotEqual(light, dark)
        self.assertEqual(grounds, {
            (False, "light"): light, (False, "dark"): dark,
            (False, "auto"): light, (True, "light"): light,
            (True, "dark"): dark, (True, "auto"): dark})

    def test_menu_of_a_phone_leads_to_all_pages(self):
        self.window(390)
        self.open("ops/softplus.html")
        visible = "document.querySelector('#nav').checkVisibility()"
        self.assertFalse(self.run_script(visible))
        self.run_script("document.querySelector('.menu').click()")
        self.until(visible)
        self.run_script("document.querySelector('#nav .close').click()")
        self.until(f"!{visible}")
        self.run_script("document.querySelector('.menu').click()")
        self.until(visible)
        self.run_script("document.querySelector('#nav li a').click()")
        self.arrive("guides/readme.html")
        self.assertFalse(self.run_script(visible))

    def test_pages_work_without_scripts(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.open("ops/softplus.html")
            self.assertTrue(self.run_script(
                "document.querySelector('.theme').hidden"))
            self.window(390)
            self.open("ops/cumsum.html#nav")
            self.assertTrue(self.run_script(
                "document.querySelector('#nav').checkVisibility()"))
        finally:
            self.browser.call("Emulation.setScriptExecutionDisabled",
                              value=False)

    def test_print_has_the_text_alone(self):
        self.open("ops/softplus.html")
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        try:
            for part in (".top", ".side", ".places", ".copy"):
                self.assertFalse(self.run_script(
                    f"document.querySelector('{part}').checkVisibility()"),
                    part)
        finally:
            self.browser.call("Emulation.setEmulatedMedia", media="")
        if OUTPUTS:
            self.browser.pdf(os.path.join(OUTPUTS, "softplus.pdf"))


if __name__ == "__main__":
    if not browser.find():
        print("SKIPPED: there is no Chromium")
    unittest.main()
