"use strict";

// Lowest score that is requested; the slider hides objects with lower scores.
const MIN_SCORE = 0.05;
const REQUESTS = 2;
const TRIES = 8;
// Longer edge of the mask canvas in pixels.
const CANVAS = 1024;
const MASK_OPACITY = 0.5;
// Classes listed below an image.
const BEST = 5;

const $ = id => document.getElementById(id);
const entries = [];
const hidden = new Set();
let model;
let active = 0;

function element(name, properties = {}, ...children) {
  const created = document.createElement(name);
  Object.assign(created, properties);
  created.append(...children);
  return created;
}

function vector(name, attributes) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => created.setAttribute(key, value));
  return created;
}

function count(number, noun, nouns = noun + "s") {
  return number + " " + (number === 1 ? noun : nouns);
}

function percent(share) {
  return share < 0.001 ? "< 0.1%" : (100 * share).toFixed(1) + "%";
}

const isSegmenter = () => model.task === "segmentation";
const isClassifier = () => model.task === "classification";
const color = label => (model.classes.find(each => each.label === label) || {}).color || "#888888";
const predictions = entry => entry.response.objects || entry.response.regions || entry.response.classes;
const isShown = prediction =>
  !hidden.has(prediction.label) && (isSegmenter() || prediction.score >= Number($("level").value));

// Images and their predictions.

function add(files) {
  for (const file of files) {
    const entry = { file, name: file.name || "image", url: URL.createObjectURL(file) };
    entries.push(entry);
    frame(entry);
  }
  $("tools").hidden = entries.length === 0;
  next();
  render();
}

function remove(entry) {
  entry.removed = true;
  entry.figure.remove();
  URL.revokeObjectURL(entry.url);
  entries.splice(entries.indexOf(entry), 1);
  render();
}

function next() {
  document.body.dataset.state = entries.every(entry => entry.response || entry.error) ? "idle" : "busy";
  const waiting = entries.find(entry => !entry.sent);
  if (!waiting || active === REQUESTS) {
    return;
  }
  waiting.sent = true;
  active++;
  request(waiting)
    .catch(error => { waiting.error = error.message; })
    .finally(() => {
      active--;
      if (!waiting.removed) {
        settle(waiting);
        render();
      }
      next();
    });
  next();
}

async function request(entry) {
  const query = isSegmenter() ? "" : "?score=" + MIN_SCORE;
  for (let tries = 1; ; tries++) {
    const start = performance.now();
    let response;
    try {
      response = await fetch(address("predict" + query), { method: "POST", body: entry.file });
    } catch (error) {
      throw new Error("The server cannot be reached. Is it running?");
    }
    if (response.status === 503 && tries < TRIES && !entry.removed) {
      const seconds = Number(response.headers.get("Retry-After")) || 1;
      await new Promise(done => setTimeout(done, 1000 * seconds));
      continue;
    }
    const body = await response.json().catch(() => ({ detail: "The response cannot be read." }));
    if (!response.ok) {
      throw new Error(body.detail || body.title);
    }
    entry.milliseconds = performance.now() - start;
    [entry.response] = body;
    return;
  }
}

// Pictures.

function frame(entry) {
  entry.image = element("img", { src: entry.url, alt: "" });
  entry.stage = element("div", { className: "stage waiting" }, entry.image);
  entry.tally = element("span", { className: "tally", textContent: "waiting" });
  const close = element("button", { type: "button", textContent: "×", title: "Remove" });
  close.setAttribute("aria-label", "Remove " + entry.name);
  close.onclick = () => remove(entry);
  const file = element("span", { className: "file", textContent: entry.name, title: entry.name });
  entry.figure = element("figure", {}, entry.stage, element("figcaption", {}, file, entry.tally, close));
  entry.stage.onclick = () => {
    if (entry.response) {
      entry.figure.classList.toggle("large");
      draw(entry);
    }
  };
  $("results").append(entry.figure);
}

function note(entry, text) {
  entry.figure.append(element("p", { className: "note", textContent: text }));
}

function omit(entry) {
  entry.image.remove();
  note(entry, "Browsers cannot show this file format, only its predictions.");
}

function settle(entry) {
  entry.stage.classList.remove("waiting");
  if (entry.error) {
    entry.figure.classList.add("error");
    entry.stage.append(element("p", { textContent: entry.error }));
    entry.tally.textContent = "failed";
    return;
  }
  entry.image.onerror = () => omit(entry);
  if (entry.image.complete && !entry.image.naturalWidth) {
    omit(entry);
  }
  const { width, height, warnings = [] } = entry.response;
  warnings.forEach(warning => note(entry, "Warning: " + warning));
  entry.stage.style.aspectRatio = width + " / " + height;
  if (isClassifier()) {
    entry.list = element("ol", { className: "scores" });
    entry.figure.append(entry.list);
    return;
  }
  entry.canvas = element("canvas");
  entry.svg = vector("svg", { viewBox: "0 0 " + width + " " + height, preserveAspectRatio: "none" });
  entry.stage.append(entry.canvas, entry.svg);
  entry.stage.onpointermove = event => point(entry, event);
  entry.stage.onpointerleave = () => tip(entry, null);
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

// Vertical runs of mask pixels on the canvas: x, first y, last y + 1, ...
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

function draw(entry) {
  if (entry.response && isClassifier()) {
    list(entry);
  } else if (entry.response) {
    fill(entry);
    outline(entry);
  }
}

// Lists the best classes with a bar for each probability.
function list(entry) {
  entry.list.replaceChildren(...predictions(entry).filter(isShown).slice(0, BEST).map(({ label, score }) => {
    const bar = element("i");
    bar.style.width = 100 * score + "%";
    bar.style.setProperty("--c", color(label));
    return element("li", {}, element("span", { textContent: label }), element("b", { textContent: percent(score) }), bar);
  }));
}

function fill(entry) {
  const all = predictions(entry);
  const { width, height } = entry.response;
  const scale = Math.min(1, CANVAS / Math.max(width, height));
  const canvas = entry.canvas;
  canvas.width = Math.max(1, Math.ceil(width * scale));
  canvas.height = Math.max(1, Math.ceil(height * scale));
  canvas.style.opacity = isSegmenter() ? $("level").value : MASK_OPACITY;
  const owner = new Int32Array(canvas.width * canvas.height).fill(-1);
  for (let i = all.length - 1; i >= 0; i--) {
    const prediction = all[i];
    if (!prediction.segmentation || !isShown(prediction)) {
      continue;
    }
    prediction.stretches ??= stretches(prediction.segmentation, scale);
    for (let s = 0; s < prediction.stretches.length; s += 3) {
      const x = prediction.stretches[s];
      const last = Math.min(prediction.stretches[s + 2], canvas.height);
      for (let y = prediction.stretches[s + 1]; y < last; y++) {
        owner[y * canvas.width + x] = i;
      }
    }
  }
  const colors = all.map(prediction => parseInt(color(prediction.label).slice(1), 16));
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(canvas.width, canvas.height);
  owner.forEach((i, at) => {
    if (i >= 0) {
      pixels.data.set([colors[i] >> 16, (colors[i] >> 8) & 255, colors[i] & 255, 255], 4 * at);
    }
  });
  context.putImageData(pixels, 0, 0);
  entry.owner = owner;
}

function outline(entry) {
  entry.svg.replaceChildren();
  const unit = entry.response.width / (entry.stage.clientWidth || entry.response.width);
  const boxes = (entry.response.objects || []).filter(isShown).reverse();
  for (const found of boxes) {
    const { x, y, width, height } = found;
    const d = `M${x} ${y}h${width}v${height}h${-width}z`;
    entry.svg.append(vector("path", { d, class: "halo" }));
    const edge = vector("path", { d });
    edge.style.setProperty("--c", color(found.label));
    entry.svg.append(edge);
  }
  names(entry, boxes.reverse(), unit);
}

// Writes labels by descending score where they do not overlap; the tooltip shows the others.
function names(entry, found, unit) {
  const taken = [];
  for (const { x: left, y: top, label, score } of found) {
    const written = label + " " + score.toFixed(2);
    const width = 8 * unit * written.length;
    const x = Math.max(0, Math.min(left + 4 * unit, entry.response.width - width));
    const place = { x, y: Math.max(top, 0) + 14 * unit, width };
    const free = taken.every(other =>
      Math.abs(other.y - place.y) > 13 * unit || other.x > place.x + place.width || place.x > other.x + other.width);
    if (free) {
      taken.push(place);
      const text = vector("text", { x: place.x, y: place.y, "font-size": 12 * unit });
      text.textContent = written;
      entry.svg.append(text);
    }
  }
}

function point(entry, event) {
  const place = entry.stage.getBoundingClientRect();
  const x = (event.clientX - place.left) / place.width;
  const y = (event.clientY - place.top) / place.height;
  if (x < 0 || y < 0 || x >= 1 || y >= 1) {
    tip(entry, null);
    return;
  }
  const { canvas, owner } = entry;
  const at = Math.floor(y * canvas.height) * canvas.width + Math.floor(x * canvas.width);
  let found = predictions(entry)[owner[at]];
  if (!found && !isSegmenter()) {
    const column = x * entry.response.width;
    const row = y * entry.response.height;
    const inside = box =>
      column >= box.x && column < box.x + box.width && row >= box.y && row < box.y + box.height;
    found = predictions(entry).filter(isShown).find(inside);
  }
  tip(entry, found, event.clientX - place.left, event.clientY - place.top);
}

function tip(entry, prediction, x, y) {
  entry.tip?.remove();
  if (prediction) {
    const value = isSegmenter() ? percent(prediction.fraction) : prediction.score.toFixed(2);
    entry.tip = element("div", { className: "tip", textContent: prediction.label + " " + value });
    entry.stage.append(entry.tip);
    const most = entry.stage.clientWidth - entry.tip.offsetWidth - 4;
    entry.tip.style.left = Math.max(4, Math.min(x + 12, most)) + "px";
    entry.tip.style.top = (y > 44 ? y - 40 : y + 16) + "px";
  }
}

// Toolbar, class filter and status line.

function render() {
  $("tools").hidden = entries.length === 0;
  const level = Number($("level").value);
  $("level-value").textContent = isSegmenter() ? Math.round(100 * level) + "%" : level.toFixed(2);
  entries.forEach(draw);
  for (const entry of entries.filter(each => each.response)) {
    const shown = predictions(entry).filter(isShown);
    const found = summary(shown);
    entry.tally.textContent = found + " · " + Math.round(entry.milliseconds) + " ms";
    entry.image.alt = entry.name + ": " + found;
  }
  classes();
  const error = entries.filter(entry => entry.error).length;
  const waiting = entries.filter(entry => !entry.response && !entry.error).length;
  $("status").textContent = [
    entries.length ? count(entries.length, "image") : "",
    waiting ? waiting + " waiting" : "",
    error ? error + " failed" : "",
  ].filter(Boolean).join(", ");
}

function summary(shown) {
  if (isClassifier()) {
    return shown.length ? shown[0].label : "no class";
  }
  return isSegmenter() ? count(shown.length, "class", "classes") : count(shown.length, "object");
}

function classes() {
  const totals = new Map();
  let pixels = 0;
  for (const entry of entries.filter(each => each.response)) {
    pixels += entry.response.width * entry.response.height;
    // Images are counted for their best class.
    for (const prediction of isClassifier() ? predictions(entry).slice(0, 1) : predictions(entry)) {
      const counted = isSegmenter() ? prediction.pixels : Number(prediction.score >= Number($("level").value));
      totals.set(prediction.label, (totals.get(prediction.label) || 0) + counted);
    }
  }
  const focused = document.activeElement.dataset.label;
  const named = [...totals].sort((a, b) => b[1] - a[1]);
  $("classes").replaceChildren(...named.map(([label, total]) => {
    const mark = element("i");
    mark.style.setProperty("--c", color(label));
    const value = isSegmenter() ? percent(total / pixels) : String(total);
    const button = element("button", { type: "button" }, mark, element("span", { textContent: label }), element("b", { textContent: value }));
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
  // The buttons were replaced; restore the keyboard focus.
  [...$("classes").querySelectorAll("button")].find(each => each.dataset.label === focused)?.focus();
}

// The shown predictions in the format of predictions.json.
function json() {
  const shown = entries.filter(each => each.response).map(entry => ({
    ...entry.response,
    image: entry.name,
    [isClassifier() ? "classes" : isSegmenter() ? "regions" : "objects"]:
      predictions(entry).filter(isShown).map(({ stretches, ...prediction }) => prediction)
  }));
  return JSON.stringify(shown, null, 2);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(json());
    $("status").textContent = "JSON copied.";
  } catch (error) {
    $("status").textContent = "The browser does not allow copying. Use Save JSON.";
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
  $("clear").onclick = () => [...entries].forEach(remove);
  window.onresize = () => entries.forEach(draw);
}

// Behind a proxy, the path of the page may have no trailing slash.
function address(path) {
  return location.origin + location.pathname.replace(/\/*$/, "/") + path;
}

async function start() {
  try {
    model = await (await fetch(address("model"))).json();
  } catch (error) {
    $("status").textContent = "The server cannot be reached. Is it running?";
    return;
  }
  document.title = model.name + " – Saccade";
  $("name").textContent = model.name;
  const names = model.classes.map(each => each.label);
  const some = names.length > 12 ? names.slice(0, 12).join(", ") + ", …" : names.join(", ");
  const tasks = { classification: "Image classification", segmentation: "Semantic segmentation" };
  $("facts").textContent = (tasks[model.task] || "Object detection")
    + " with " + count(names.length, "class", "classes") + ": " + some + ".";
  $("level-name").textContent = isSegmenter() ? "Mask opacity" : "Minimum score";
  $("level").min = isSegmenter() ? 0 : MIN_SCORE;
  $("level").value = isSegmenter() ? 0.6 : model.defaultScore;
  listen();
  render();
  document.body.dataset.state = "idle";
}

start();
