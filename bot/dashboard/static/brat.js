// What is open stays open while news renew the page; Escape closes it, and the toast.
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

colourChanges();
addEventListener("htmx:afterSettle", colourChanges);

Idiomorph.defaults.callbacks.beforeNodeMorphed = (old, fresh) =>
  !(old.matches?.(".diff.coloured") && old.textContent === fresh.textContent);

Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) =>
  !(name === "open" && element.localName === "details");

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
