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

// The threshold: hides weaker predictions, and marks what is missed without them.
const slider = document.querySelector(".threshold input");
slider?.addEventListener("input", () => {
  const threshold = Number(slider.value);
  document.querySelector(".threshold output").textContent = threshold.toFixed(2);
  for (const example of document.querySelectorAll(".example")) show(example, threshold);
});
slider?.addEventListener("change", sort);

// Objects are missed or found by each run; the labels are dashed where the only run misses them.
function show(example, threshold) {
  const weak = (shape) => threshold > Number(shape.dataset.score);
  const truth = [...example.querySelectorAll(".truth .box")];
  const views = [...example.querySelectorAll(".found")];
  if (views.length === 1) truth.forEach((box) => box.classList.toggle("lone", weak(box)));
  let mistakes = 0;
  for (const view of views) {
    for (const shape of view.querySelectorAll("[data-score]")) shape.classList.toggle("weak", weak(shape));
    const sure = [...view.querySelectorAll(".box")].filter((box) => !weak(box));
    const wrong = sure.filter((box) => box.classList.contains("lone")).length;
    const hits = sure.length - wrong;
    mistakes += truth.length - hits + wrong;
    view.parentElement.querySelector(".tally").textContent = `${hits} of ${truth.length} found, ${wrong} false`;
  }
  example.dataset.mistakes = mistakes;
}

// The order of the pictures: by mistakes, or by name.
const order = document.querySelector(".order select");
order?.addEventListener("change", sort);

function sort() {
  const examples = document.querySelector(".examples");
  const name = (example) => example.querySelector(".name").textContent;
  const mistakes = (example) => Number(example.dataset.mistakes);
  const by = {
    worst: (a, b) => mistakes(b) - mistakes(a),
    best: (a, b) => mistakes(a) - mistakes(b),
    name: (a, b) => name(a).localeCompare(name(b)),
  };
  examples.replaceChildren(...[...examples.children].sort(by[order.value]));
}
