// What a walk by Tab has to know of a page. Loaded past the page's policy, as axe is.
const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
const goesTo = (e) => new URL(e.href.baseVal ?? e.href, location).pathname;
const NAMED = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";

// Everything that a key has to reach, as it stands in the page; what only a pointer reaches.
window.stops = () => {
  window.found = [...document.querySelectorAll(NAMED)].filter(
    (e) => seen(e) && !e.disabled && e.tabIndex >= 0,
  );
  const reached = new Set(window.found.filter((e) => e.matches("a")).map(goesTo));
  const pointed = [...document.querySelectorAll("a[href][tabindex='-1']")].filter(
    (e) => seen(e) && !reached.has(goesTo(e)),
  );
  return { count: window.found.length, pointed: pointed.map((e) => e.outerHTML) };
};

// Where the focus is: its place in `found`, its box on the page, how it is to be seen.
window.focused = () => {
  const e = document.activeElement;
  const box = e.getClientRects()[0] ?? e.getBoundingClientRect();
  const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(e);
  const wide = outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
  const room = wide + parseFloat(outlineOffset) - 0.5;
  let [x, y, cut] = [scrollX, scrollY, ""];
  for (let a = e.parentElement; a && a !== document.body; a = a.parentElement) {
    [x, y] = [x + a.scrollLeft, y + a.scrollTop];
    const around = a.getBoundingClientRect();
    const over =
      box.left - room < around.left || box.top - room < around.top || box.bottom + room > around.bottom;
    if (over && getComputedStyle(a).overflow !== "visible") cut = a.outerHTML.slice(0, 80);
  }
  const at = document.elementFromPoint(box.left + Math.min(box.width, 10) / 2, box.top + box.height / 2);
  return {
    at: window.found.indexOf(e),
    name: e.outerHTML.slice(0, 120),
    left: box.left + x,
    right: box.right + x,
    top: box.top + y,
    bottom: box.bottom + y,
    wide,
    cut,
    uncovered: Boolean(at && (e.contains(at) || at.contains(e))),
  };
};
