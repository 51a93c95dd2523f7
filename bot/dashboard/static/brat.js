// What renews the page is read once the page is painted: before, it would hold that up.
// A button that is pressed earlier is pressed again then.
const { next } = document.currentScript.dataset;

const read = (src) =>
  new Promise((done) => {
    const script = document.createElement("script");
    Object.assign(script, { src, async: false, onload: done, onerror: done });
    document.head.append(script);
  });

const begin = () => {
  isLive = true;
  colourChanges();
  placeLogs();
  // What is open stays open while news renew the page.
  Idiomorph.defaults.callbacks.beforeNodeMorphed = (old, fresh) =>
    !(old.matches?.(".diff.coloured") && old.textContent === fresh.textContent);
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) =>
    !(name === "open" && element.localName === "details");
  listen();
};

// A browser takes up a stream that breaks off, but not one that was refused.
const listen = () => {
  const news = new EventSource(document.body.dataset.news);
  news.addEventListener("changed", () => htmx.trigger("#page", "news"));
  news.addEventListener("error", () => {
    if (news.readyState === EventSource.CLOSED) setTimeout(listen, 60_000);
  });
};

let isLive = false;
const loaded = new Promise((done) => addEventListener("load", done));
const painted = new Promise((done) =>
  document.hidden ? done() : new PerformanceObserver(done).observe({ type: "paint", buffered: true }),
);
const live = Promise.all([loaded, painted])
  .then(() => Promise.all(next.split(" ").map(read)))
  .then(begin);

addEventListener(
  "submit",
  (event) => {
    if (isLive || !event.target.matches("[hx-post]")) return;
    event.preventDefault();
    live.finally(() => event.target.requestSubmit(event.submitter));
  },
  true,
);

// Escape closes what is open, and the toast.
const toast = () => document.querySelector("#toast .toast");

// A change gets its colours in the browser: there, a text that takes for ever to colour
// holds up only its reader. A string or a comment may span lines, so each side of a hunk
// is coloured whole, and what is open at a line's end is opened again in the next.
const colourSide = (lines, language) => {
  const text = lines.map((line) => line.textContent).join("\n");
  const coloured = hljs.highlight(text, { language, ignoreIllegals: true }).value;
  const open = [];
  coloured.split("\n").forEach((line, at) => {
    const begun = open.join("");
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g))
      tag === "</span>" ? open.pop() : open.push(tag);
    lines[at].innerHTML = begun + line + "</span>".repeat(open.length);
  });
};

const colourChange = (diff) => {
  const language = diff.dataset.path.toLowerCase().split(/[./]/).pop();
  if (!hljs.getLanguage(language)) return;
  const hunks = [];
  for (const line of diff.children)
    line.matches(".hunk") ? hunks.push([]) : hunks.at(-1).push(line);
  for (const hunk of hunks)
    for (const side of [".minus, .same", ".plus, .same"]) {
      const lines = hunk.filter((line) => line.matches(side));
      if (lines.length) colourSide(lines.map((line) => line.querySelector("i")), language);
    }
};

const colourChanges = () => {
  for (const diff of document.querySelectorAll(".diff:not(.coloured)")) {
    diff.classList.add("coloured");
    if (window.hljs) colourChange(diff);
  }
};

// A log opens at what failed, else at its end, and stays at its end as it grows.
const heights = new WeakMap();
const placeLogs = () => {
  for (const log of document.querySelectorAll(".log")) {
    const before = heights.get(log);
    if (!log.clientHeight || log.querySelector(":target")) continue;
    if (before && log.scrollTop + log.clientHeight < before - 1) continue;
    heights.set(log, log.scrollHeight);
    const at = (!before && log.querySelector(".bad")) || log.lastElementChild;
    if (at) log.scrollTop = at.offsetTop - log.offsetTop - log.clientHeight / 2;
  }
};

addEventListener("htmx:afterSettle", colourChanges);
addEventListener("htmx:afterSettle", placeLogs);
addEventListener("toggle", placeLogs, true);

addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (toast()) return toast().remove();
  const opened = document.activeElement.closest("details[open]");
  if (!opened) return;
  opened.open = false;
  opened.querySelector("summary").focus();
});

addEventListener("click", (event) => {
  if (event.target.closest(".toast button")) toast().remove();
});
