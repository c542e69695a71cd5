"use strict";

const PAGE = 60;
const [classes, images] = JSON.parse(document.querySelector("#data").textContent);
const field = (id) => document.getElementById(id);
const chosen = (id) => field(id)?.value ?? "";
const grid = field("images");
let found = images;
let first = 0;

function element(tag, name, text) {
  return Object.assign(document.createElement(tag), { className: name, textContent: text });
}

function address(file) {
  return file.split("/").map(encodeURIComponent).join("/");
}

function figure([name, picture, thumbnail, labels, , objects, faults]) {
  const box = document.createElement("figure");
  if (picture) {
    const link = Object.assign(document.createElement("a"), { href: address(picture) });
    link.append(Object.assign(new Image(), { loading: "lazy", decoding: "async", alt: name, src: address(thumbnail) }));
    box.append(link);
  } else {
    box.append(element("div", "absent", ""));
  }
  const caption = document.createElement("figcaption");
  const title = Object.assign(element("span", "name", ""), { title: name });
  title.append(element("bdi", "", name));
  caption.append(title);
  const shown = labels.slice(0, 4).map((label) => classes[label]).join(", ");
  const more = labels.length > 4 ? ", and " + (labels.length - 4) + " more" : "";
  caption.append(element("span", "tally", objects > 0 ? `${objects} ${objects === 1 ? "object" : "objects"}: ${shown}${more}` : shown + more || "no labels"));
  for (const fault of faults) caption.append(element("span", "fault", fault));
  box.append(caption);
  return box;
}

function show() {
  grid.replaceChildren(...found.slice(first, first + PAGE).map(figure));
  const last = Math.min(first + PAGE, found.length);
  const count = found.length.toLocaleString("en");
  field("range").textContent = found.length > 0 ? `${first + 1}–${last} of ${count}` : "no matching images";
  field("before").disabled = first === 0;
  field("after").disabled = last === found.length;
}

function search() {
  const name = chosen("name").toLowerCase();
  const label = chosen("class");
  const size = chosen("size");
  const fault = chosen("fault");
  found = images.filter(
    (image) =>
      image[0].toLowerCase().includes(name) &&
      (label === "" || image[3].includes(Number(label))) &&
      (size === "" || image[4].includes(Number(size))) &&
      (fault === "" || image[6].length > 0 === (fault === "0")),
  );
  first = 0;
  show();
}

function turn(by) {
  first += by;
  show();
  scrollTo(0, 0);
}

for (const input of document.querySelectorAll(".search input, .search select")) input.addEventListener("input", search);
document.querySelector(".search").addEventListener("submit", (event) => event.preventDefault());
field("before").addEventListener("click", () => turn(-PAGE));
field("after").addEventListener("click", () => turn(PAGE));
search();
