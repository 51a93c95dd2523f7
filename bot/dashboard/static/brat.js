// What is open stays open while news renew the page; Escape closes it, and the toast.
const toast = () => document.querySelector("#toast .toast");

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
