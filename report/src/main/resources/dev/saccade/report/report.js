"use strict";

// Values under the pointer: for each curve the point nearest to the pointer's x.
for (const cursor of document.querySelectorAll(".cursor")) {
  const svg = cursor.ownerSVGElement;
  const [low, high] = cursor.dataset.range.split(" ").map(Number);
  const [left, right] = cursor.dataset.stretch.split(" ").map(Number);
  const curves = [...svg.querySelectorAll(".curve")].map((path) => {
    const numbers = path.dataset.points.split(" ").map(Number);
    const name = path.querySelector("title").textContent;
    path.querySelector("title").remove();
    const xs = numbers.filter((_, i) => i % 2 === 0);
    const ys = numbers.filter((_, i) => i % 2 === 1);
    return { name, color: getComputedStyle(path).getPropertyValue("--c"), xs, ys };
  });
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  svg.parentElement.append(tip);

  svg.addEventListener("pointermove", (event) => {
    const frame = svg.getBoundingClientRect();
    const unit = svg.viewBox.baseVal.width / frame.width;
    const at = Math.min(Math.max((event.clientX - frame.left) * unit, left), right);
    const x = low + ((at - left) / (right - left)) * (high - low);
    const rows = curves
      .filter((curve) => curve.ys.length > 0)
      .map(({ name, color, xs, ys }) => {
        const nearest = xs.reduce((best, value, i) => (Math.abs(value - x) < Math.abs(xs[best] - x) ? i : best), 0);
        return { name, color, x: xs[nearest], y: ys[nearest] };
      })
      .sort((a, b) => b.y - a.y)
      .slice(0, 12);
    if (rows.length === 0) return;
    cursor.setAttribute("transform", `translate(${at} 0)`);
    cursor.style.visibility = "visible";
    tip.replaceChildren(row("", svg.querySelector(".axis").textContent, rows[0].x), ...rows.map((r) => row(r.color, r.name, r.y)));
    tip.hidden = false;
    tip.style.top = frame.top - svg.parentElement.getBoundingClientRect().top + "px";
    const beside = at / unit + 14;
    tip.style.left = (beside + tip.offsetWidth > frame.width ? at / unit - tip.offsetWidth - 14 : beside) + "px";
  });
  svg.addEventListener("pointerleave", () => {
    tip.hidden = true;
    cursor.style.visibility = "hidden";
  });
}

function row(color, name, value) {
  const line = document.createElement("div");
  line.style.setProperty("--c", color);
  for (const text of [name, Number(value.toPrecision(4))]) {
    line.append(Object.assign(document.createElement("span"), { textContent: text }));
  }
  return line;
}

// The score threshold: hides weaker predictions and marks the objects that they miss.
const slider = document.querySelector(".threshold input");
slider?.addEventListener("input", () => {
  const threshold = Number(slider.value);
  document.querySelector(".threshold output").textContent = threshold.toFixed(2);
  for (const example of document.querySelectorAll(".example")) show(example, threshold);
});
slider?.addEventListener("change", sort);

// Counts the errors of each run; the ground truth shows missed objects if there is one run.
function show(example, threshold) {
  const weak = (shape) => threshold > Number(shape.dataset.score);
  const truth = [...example.querySelectorAll(".truth .box")];
  const views = [...example.querySelectorAll(".found")];
  if (views.length === 1) {
    for (const box of truth) box.classList.replace(...(weak(box) ? ["correct", "missed"] : ["missed", "correct"]));
  }
  let mistakes = 0;
  for (const view of views) {
    for (const shape of view.querySelectorAll("[data-score]")) shape.classList.toggle("weak", weak(shape));
    const sure = [...view.querySelectorAll(".box")].filter((box) => !weak(box));
    const count = (state) => sure.filter((box) => box.classList.contains(state)).length;
    const wrong = count("wrong");
    const hits = count("correct");
    const missed = truth.length - hits;
    mistakes += missed + wrong;
    const positives = wrong === 1 ? "1 false positive" : `${wrong} false positives`;
    view.closest(".view").querySelector(".tally").textContent = `${hits} correct, ${positives}, ${missed} missed`;
  }
  example.dataset.mistakes = mistakes;
}

// The sort order of the images.
const order = document.querySelector(".order select");
order?.addEventListener("change", sort);

function sort() {
  const examples = document.querySelector(".examples");
  const name = (example) => example.querySelector("span.name").textContent;
  const mistakes = (example) => Number(example.dataset.mistakes);
  const by = {
    worst: (a, b) => mistakes(b) - mistakes(a),
    best: (a, b) => mistakes(a) - mistakes(b),
    name: (a, b) => name(a).localeCompare(name(b)),
  };
  examples.replaceChildren(...[...examples.children].sort(by[order.value]));
}

// Enlarged pictures: a click zooms in further, arrow keys switch pictures, Escape closes.
const dialog = document.createElement("dialog");
const stage = Object.assign(document.createElement("div"), { className: "stage" });
const caption = document.createElement("p");
const bar = document.createElement("nav");
let opener;

function enlarge(button) {
  opener = button;
  const picture = button.firstElementChild.cloneNode(true);
  picture.querySelector("[id]")?.removeAttribute("id");
  stage.replaceChildren(picture);
  const name = picture.getAttribute("aria-label") ?? picture.alt;
  const notes = [...button.parentElement.querySelectorAll(".run, .tally")].map((note) => note.textContent);
  caption.textContent = [name, ...notes].join(" · ");
  if (!dialog.open) dialog.showModal();
}

function turn(by) {
  const buttons = [...document.querySelectorAll(".zoom")];
  enlarge(buttons[(buttons.indexOf(opener) + by + buttons.length) % buttons.length]);
}

function magnify() {
  stage.classList.toggle("close");
  stage.scrollTo((stage.scrollWidth - stage.clientWidth) / 2, (stage.scrollHeight - stage.clientHeight) / 2);
}

const actions = { Previous: () => turn(-1), Next: () => turn(1), Zoom: magnify, Close: () => dialog.close() };
bar.append(caption);
for (const [name, action] of Object.entries(actions)) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
  button.addEventListener("click", action);
  bar.append(button);
}
dialog.setAttribute("aria-label", "Enlarged picture");
dialog.append(stage, bar);
document.body.append(dialog);
stage.addEventListener("click", magnify);
dialog.addEventListener("close", () => opener.focus());
dialog.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by && !stage.classList.contains("close")) turn(by);
});
for (const button of document.querySelectorAll(".zoom")) button.addEventListener("click", () => enlarge(button));
