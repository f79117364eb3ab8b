// SPDX-License-Identifier: Apache-2.0
// Elements from data. What comes from the API is only ever set as text or as the value of an
// attribute; nothing is read as HTML, and a link leads nowhere but within the page.
const svg_names = new Set(["svg", "path", "line", "rect", "circle", "text", "g", "title", "polyline"]);

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element[name] = value;
  else if (name === "vars") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
  else if (name === "value") element.value = value;
  else if (name === "own") {
    element.own = value;
    element.setAttribute("data-own", "");
  }
  else if (name === "href" && !String(value).startsWith("#")) throw new Error("a link out of the page");
  else element.setAttribute(name, value === true ? "" : String(value));
}

/// h("td", {class: "num"}, 5): an element. Children are elements, texts, numbers, lists of these, or
/// nothing. `vars`: custom properties and styles; `own`: a function that draws its inside.
export function h(tag, props, ...children) {
  const element = svg_names.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) set(element, name, value);
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

const handlers = ["onclick", "oninput", "onkeydown", "onchange", "ontoggle", "onmouseenter", "onmouseleave"];

function sync_attributes(from, to) {
  for (const { name } of [...from.attributes])
    if (!to.hasAttribute(name) && !(name === "open" && from.tagName === "DETAILS")) from.removeAttribute(name);
  for (const { name, value } of to.attributes)
    if (from.getAttribute(name) !== value && !(name === "open" && from.tagName === "DETAILS"))
      if (name === "style") from.style.cssText = to.style.cssText;  // as an attribute it is against the policy
      else from.setAttribute(name, value);
  for (const name of handlers) if (from[name] !== to[name]) from[name] = to[name];
  if (to.own) from.own = to.own;
  if ("value" in to && from.tagName === "SELECT" && from.value !== to.value) from.value = to.value;
}

const key_of = (node) => (node.nodeType === 1 ? node.getAttribute("data-key") : null);

function same(from, to) {
  return from.nodeType === to.nodeType && from.nodeName === to.nodeName && key_of(from) === key_of(to);
}

/// Makes `from` like `to` and keeps what is alike, so that focus, selection and what is open stay.
export function morph(from, to) {
  if (from.nodeType === 3) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  sync_attributes(from, to);
  if (!to.own) arrange(from, [...to.childNodes]);
}

function arrange(parent, wanted) {
  const keyed = new Map(), kept = new Set(wanted.map(key_of));
  for (const child of [...parent.childNodes]) {
    const key = key_of(child);
    if (key === null) continue;
    if (kept.has(key)) keyed.set(key, child);
    else child.remove();  // first, so that what stays need not move
  }
  let at = parent.firstChild;
  for (const next of wanted) {
    const key = key_of(next);
    let match = key !== null ? keyed.get(key) : at;
    if (match && !same(match, next)) match = null;
    if (!match) {
      parent.insertBefore(next, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else parent.insertBefore(match, at);
    morph(match, next);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

/// These become the children of `parent`. An element that is moved loses the focus: it gets it back.
export function morph_children(parent, wanted) {
  const focused = document.activeElement;
  arrange(parent, wanted);
  if (focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

/// Shows these children in the element, and lets what draws itself (`own`) do so.
export function show(element, ...children) {
  morph_children(element, children.flat(4).filter(Boolean));
  for (const each of element.querySelectorAll("[data-own]")) each.own(each);
}

/// For screen readers: what somebody has just brought about.
export function say(text) {
  document.getElementById("said").textContent = text;
}

/// A question before something is done; gives whether to do it.
export function confirm(title, content, yes) {
  const dialog = document.getElementById("confirm");
  document.getElementById("confirm-title").textContent = title;
  document.getElementById("confirm-text").replaceChildren(...content);
  document.getElementById("confirm-yes").textContent = yes;
  return new Promise((resolve) => {
    const end = (answer) => (event) => {
      event?.preventDefault();
      dialog.onclose = null;
      dialog.close();
      resolve(answer);
    };
    document.getElementById("confirm-form").onsubmit = end(true);
    document.getElementById("confirm-no").onclick = end(false);
    dialog.onclose = () => { if (!dialog.open) end(false)(); };  // open: that was the question before
    dialog.showModal();
  });
}

/// Arrow keys, Home and End move among the elements, of which Tab reaches one.
export function rove(event, elements, columns = 1) {
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
  const at = elements.indexOf(document.activeElement);
  if (at < 0) return;
  let to = at + (steps[event.key] || 0);
  if (event.key === "Home") to = 0;
  if (event.key === "End") to = elements.length - 1;
  if (to === at || !elements[to]) return;
  event.preventDefault();
  elements[at].tabIndex = -1;
  elements[to].tabIndex = 0;
  elements[to].focus();
}
