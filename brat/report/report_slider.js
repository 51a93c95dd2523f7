"use strict";
const slider = document.getElementById("moment");
const moments = JSON.parse(slider.dataset.moments);
const show = () => {
  const moment = moments[slider.value - 1];
  document.getElementById("moment-when").textContent =
    `${moment.when}, step ${slider.value} of ${moments.length}: ${moment.convoy}`;
  document.getElementById("moment-said").replaceChildren(...moment.said.map((said) => {
    const line = document.createElement("li");
    line.textContent = said;
    return line;
  }));
  for (const box of document.querySelectorAll("g.task")) {
    const state = moment.tasks[box.dataset.task] || "not planned";
    box.setAttribute("class", `task ${state}`);
    box.querySelector(".state").textContent = state;
  }
};
slider.addEventListener("input", show);
slider.max = slider.value = moments.length;
document.getElementById("replay").hidden = false;
show();
