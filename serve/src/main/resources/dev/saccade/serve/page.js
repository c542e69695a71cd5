"use strict";

// Objects from this score on are asked for; the slider shows fewer of them.
const LEAST_SCORE = 0.05;
const REQUESTS = 2;
const TRIES = 8;
// Longer edge of the canvas on which pixels are drawn.
const CANVAS = 1024;
const MASK_OPACITY = 0.5;

const $ = id => document.getElementById(id);
const photos = [];
const hidden = new Set();
let model;
let asking = 0;

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

function vector(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

function count(number, noun, nouns = noun + "s") {
  return number + " " + (number === 1 ? noun : nouns);
}

function percent(share) {
  return share < 0.001 ? "< 0.1%" : (100 * share).toFixed(1) + "%";
}

const segments = () => model.task === "segmentation";
const color = label => (model.classes.find(each => each.label === label) || {}).color || "#888888";
const things = photo => photo.answer.objects || photo.answer.regions;
const isShown = thing =>
  !hidden.has(thing.label) && (segments() || thing.score >= Number($("level").value));

// Photographs and their answers.

function add(files) {
  for (const file of files) {
    const photo = { file, name: file.name || "photograph", url: URL.createObjectURL(file) };
    photos.push(photo);
    frame(photo);
  }
  $("tools").hidden = photos.length === 0;
  next();
  render();
}

function remove(photo) {
  photo.removed = true;
  photo.figure.remove();
  URL.revokeObjectURL(photo.url);
  photos.splice(photos.indexOf(photo), 1);
  render();
}

function next() {
  document.body.dataset.state = photos.every(photo => photo.answer || photo.wrong) ? "idle" : "busy";
  const waiting = photos.find(photo => !photo.asked);
  if (!waiting || asking === REQUESTS) {
    return;
  }
  waiting.asked = true;
  asking++;
  ask(waiting)
    .catch(fault => { waiting.wrong = fault.message; })
    .finally(() => {
      asking--;
      if (!waiting.removed) {
        settle(waiting);
        render();
      }
      next();
    });
  next();
}

async function ask(photo) {
  const query = segments() ? "" : "?score=" + LEAST_SCORE;
  for (let tries = 1; ; tries++) {
    const start = performance.now();
    let answer;
    try {
      answer = await fetch(address("predict" + query), { method: "POST", body: photo.file });
    } catch (fault) {
      throw new Error("The server cannot be reached; is it still running?");
    }
    if (answer.status === 503 && tries < TRIES && !photo.removed) {
      const seconds = Number(answer.headers.get("Retry-After")) || 1;
      await new Promise(done => setTimeout(done, 1000 * seconds));
      continue;
    }
    const told = await answer.json().catch(() => ({ detail: "The answer cannot be read." }));
    if (!answer.ok) {
      throw new Error(told.detail || told.title);
    }
    photo.milliseconds = performance.now() - start;
    [photo.answer] = told;
    return;
  }
}

// Pictures.

function frame(photo) {
  photo.image = element("img", { src: photo.url, alt: "" });
  photo.stage = element("div", { className: "stage waiting" }, photo.image);
  photo.tally = element("span", { className: "tally", textContent: "waiting" });
  const close = element("button", { type: "button", textContent: "×", title: "Remove" });
  close.setAttribute("aria-label", "Remove " + photo.name);
  close.onclick = () => remove(photo);
  const file = element("span", { className: "file", textContent: photo.name, title: photo.name });
  photo.figure = element("figure", {}, photo.stage, element("figcaption", {}, file, photo.tally, close));
  photo.stage.onclick = () => {
    if (photo.answer) {
      photo.figure.classList.toggle("large");
      draw(photo);
    }
  };
  $("photos").append(photo.figure);
}

function settle(photo) {
  photo.stage.classList.remove("waiting");
  if (photo.wrong) {
    photo.figure.classList.add("wrong");
    photo.stage.append(element("p", { textContent: photo.wrong }));
    photo.tally.textContent = "not used";
    return;
  }
  const { width, height } = photo.answer;
  photo.stage.style.aspectRatio = width + " / " + height;
  photo.canvas = element("canvas");
  photo.svg = vector("svg", { viewBox: "0 0 " + width + " " + height, preserveAspectRatio: "none" });
  photo.stage.append(photo.canvas, photo.svg);
  photo.image.onerror = () => photo.image.remove();
  if (photo.image.complete && !photo.image.naturalWidth) {
    photo.image.remove();
  }
  photo.stage.onpointermove = event => point(photo, event);
  photo.stage.onpointerleave = () => tip(photo, null);
}

// COCO's run lengths, written as in pycocotools.
function runs(text) {
  const lengths = [];
  for (let at = 0; at < text.length;) {
    let number = 0;
    let shift = 0;
    let digit;
    do {
      digit = text.charCodeAt(at++) - 48;
      number |= (digit & 31) << shift;
      shift += 5;
    } while (digit & 32);
    if (digit & 16) {
      number |= -1 << shift;
    }
    lengths.push(lengths.length > 2 ? number + lengths[lengths.length - 2] : number);
  }
  return lengths;
}

// Stretches of columns on the canvas: x, first y, last y + 1, ...
function stretches(segmentation, scale) {
  const height = segmentation.size[0];
  const found = [];
  let at = 0;
  runs(segmentation.counts).forEach((length, index) => {
    const end = at + length;
    while (index % 2 && at < end) {
      const x = Math.floor(at / height);
      const last = Math.min(end, (x + 1) * height);
      const top = Math.floor((at - x * height) * scale);
      const bottom = Math.max(top + 1, Math.floor((last - x * height) * scale));
      found.push(Math.floor(x * scale), top, bottom);
      at = last;
    }
    at = end;
  });
  return found;
}

function draw(photo) {
  if (photo.answer) {
    fill(photo);
    outline(photo);
  }
}

function fill(photo) {
  const all = things(photo);
  const { width, height } = photo.answer;
  const scale = Math.min(1, CANVAS / Math.max(width, height));
  const canvas = photo.canvas;
  canvas.width = Math.max(1, Math.ceil(width * scale));
  canvas.height = Math.max(1, Math.ceil(height * scale));
  canvas.style.opacity = segments() ? $("level").value : MASK_OPACITY;
  const owner = new Int32Array(canvas.width * canvas.height).fill(-1);
  for (let i = all.length - 1; i >= 0; i--) {
    const thing = all[i];
    if (!thing.segmentation || !isShown(thing)) {
      continue;
    }
    thing.stretches ??= stretches(thing.segmentation, scale);
    for (let s = 0; s < thing.stretches.length; s += 3) {
      const x = thing.stretches[s];
      const last = Math.min(thing.stretches[s + 2], canvas.height);
      for (let y = thing.stretches[s + 1]; y < last; y++) {
        owner[y * canvas.width + x] = i;
      }
    }
  }
  const colors = all.map(thing => parseInt(color(thing.label).slice(1), 16));
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(canvas.width, canvas.height);
  owner.forEach((i, at) => {
    if (i >= 0) {
      pixels.data.set([colors[i] >> 16, (colors[i] >> 8) & 255, colors[i] & 255, 255], 4 * at);
    }
  });
  context.putImageData(pixels, 0, 0);
  photo.owner = owner;
}

function outline(photo) {
  photo.svg.replaceChildren();
  const unit = photo.answer.width / (photo.stage.clientWidth || photo.answer.width);
  const boxes = (photo.answer.objects || []).filter(isShown).reverse();
  for (const found of boxes) {
    const { x, y, width, height } = found;
    const d = `M${x} ${y}h${width}v${height}h${-width}z`;
    photo.svg.append(vector("path", { d, class: "halo" }));
    const edge = vector("path", { d });
    edge.style.setProperty("--c", color(found.label));
    photo.svg.append(edge);
  }
  names(photo, boxes.reverse(), unit);
}

// Writes names best first, where there is room; the pointer tells the others.
function names(photo, found, unit) {
  const taken = [];
  for (const { x: left, y: top, label, score } of found) {
    const written = label + " " + score.toFixed(2);
    const width = 8 * unit * written.length;
    const x = Math.max(0, Math.min(left + 4 * unit, photo.answer.width - width));
    const place = { x, y: Math.max(top, 0) + 14 * unit, width };
    const free = taken.every(other =>
      Math.abs(other.y - place.y) > 13 * unit || other.x > place.x + place.width || place.x > other.x + other.width);
    if (free) {
      taken.push(place);
      const text = vector("text", { x: place.x, y: place.y, "font-size": 12 * unit });
      text.textContent = written;
      photo.svg.append(text);
    }
  }
}

function point(photo, event) {
  const place = photo.stage.getBoundingClientRect();
  const x = (event.clientX - place.left) / place.width;
  const y = (event.clientY - place.top) / place.height;
  if (x < 0 || y < 0 || x >= 1 || y >= 1) {
    tip(photo, null);
    return;
  }
  const { canvas, owner } = photo;
  const at = Math.floor(y * canvas.height) * canvas.width + Math.floor(x * canvas.width);
  let found = things(photo)[owner[at]];
  if (!found && !segments()) {
    const column = x * photo.answer.width;
    const row = y * photo.answer.height;
    const inside = box =>
      column >= box.x && column < box.x + box.width && row >= box.y && row < box.y + box.height;
    found = things(photo).filter(isShown).find(inside);
  }
  tip(photo, found, event.clientX - place.left, event.clientY - place.top);
}

function tip(photo, thing, x, y) {
  photo.tip?.remove();
  if (thing) {
    const value = segments() ? percent(thing.fraction) : thing.score.toFixed(2);
    photo.tip = element("div", { className: "tip", textContent: thing.label + " " + value });
    photo.stage.append(photo.tip);
    const most = photo.stage.clientWidth - photo.tip.offsetWidth - 4;
    photo.tip.style.left = Math.max(4, Math.min(x + 12, most)) + "px";
    photo.tip.style.top = (y > 44 ? y - 40 : y + 16) + "px";
  }
}

// What is beside the pictures.

function render() {
  $("tools").hidden = photos.length === 0;
  const level = Number($("level").value);
  $("level-value").textContent = segments() ? Math.round(100 * level) + "%" : level.toFixed(2);
  photos.forEach(draw);
  for (const photo of photos.filter(each => each.answer)) {
    const shown = things(photo).filter(isShown);
    const seen = segments() ? count(shown.length, "class", "classes") : count(shown.length, "object");
    photo.tally.textContent = seen + " · " + Math.round(photo.milliseconds) + " ms";
    photo.image.alt = photo.name + ": " + seen;
  }
  classes();
  const wrong = photos.filter(photo => photo.wrong).length;
  const waiting = photos.filter(photo => !photo.answer && !photo.wrong).length;
  $("said").textContent = [
    photos.length ? count(photos.length, "photograph") : "",
    waiting ? waiting + " waiting" : "",
    wrong ? wrong + " could not be used" : "",
  ].filter(Boolean).join(", ");
}

function classes() {
  const totals = new Map();
  let pixels = 0;
  for (const photo of photos.filter(each => each.answer)) {
    pixels += photo.answer.width * photo.answer.height;
    for (const thing of things(photo)) {
      const counted = segments() ? thing.pixels : Number(thing.score >= Number($("level").value));
      totals.set(thing.label, (totals.get(thing.label) || 0) + counted);
    }
  }
  const focused = document.activeElement.dataset.label;
  const named = [...totals].sort((a, b) => b[1] - a[1]);
  $("classes").replaceChildren(...named.map(([label, total]) => {
    const mark = element("i");
    mark.style.setProperty("--c", color(label));
    const told = segments() ? percent(total / pixels) : String(total);
    const button = element("button", { type: "button" }, mark, element("span", { textContent: label }), element("b", { textContent: told }));
    button.dataset.label = label;
    button.setAttribute("aria-pressed", String(!hidden.has(label)));
    button.onclick = () => {
      if (!hidden.delete(label)) {
        hidden.add(label);
      }
      render();
    };
    return element("li", {}, button);
  }));
  // The buttons are new ones; the keyboard stays where it was.
  [...$("classes").querySelectorAll("button")].find(each => each.dataset.label === focused)?.focus();
}

// The shown predictions in the format of predictions.json.
function json() {
  const shown = photos.filter(each => each.answer).map(photo => ({
    ...photo.answer,
    image: photo.name,
    [segments() ? "regions" : "objects"]:
      things(photo).filter(isShown).map(({ stretches, ...thing }) => thing)
  }));
  return JSON.stringify(shown, null, 2);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(json());
    $("said").textContent = "Copied.";
  } catch (fault) {
    $("said").textContent = "The browser does not let this page copy; save it instead.";
  }
}

function save() {
  const url = URL.createObjectURL(new Blob([json()], { type: "application/json" }));
  element("a", { href: url, download: "predictions.json" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

function listen() {
  for (const id of ["files", "camera"]) {
    $(id).onchange = event => {
      add(event.target.files);
      event.target.value = "";
    };
  }
  document.ondragover = event => {
    event.preventDefault();
    document.body.classList.add("over");
  };
  document.ondragleave = event => {
    if (!event.relatedTarget) {
      document.body.classList.remove("over");
    }
  };
  document.ondrop = event => {
    event.preventDefault();
    document.body.classList.remove("over");
    add(event.dataTransfer.files);
  };
  document.onpaste = event => add(event.clipboardData.files);
  $("level").oninput = render;
  $("copy").onclick = copy;
  $("save").onclick = save;
  $("clear").onclick = () => [...photos].forEach(remove);
  window.onresize = () => photos.forEach(draw);
}

// The page may be at a path without a slash at its end, behind a proxy.
function address(path) {
  return location.origin + location.pathname.replace(/\/*$/, "/") + path;
}

async function start() {
  try {
    model = await (await fetch(address("model"))).json();
  } catch (fault) {
    $("said").textContent = "The server cannot be reached; is it still running?";
    return;
  }
  document.title = model.name + " – Saccade";
  $("name").textContent = model.name;
  const names = model.classes.map(each => each.label);
  const some = names.length > 12 ? names.slice(0, 12).join(", ") + ", …" : names.join(", ");
  $("facts").textContent = (segments() ? "Tells the class of every pixel" : "Finds objects")
    + " of " + count(names.length, "class", "classes") + ": " + some + ".";
  $("level-name").textContent = segments() ? "Opacity" : "Score from";
  $("level").min = segments() ? 0 : LEAST_SCORE;
  $("level").value = segments() ? 0.6 : model.defaultScore;
  listen();
  render();
  document.body.dataset.state = "idle";
}

start();
