// SPDX-License-Identifier: Apache-2.0
// Run in the page by the tests. Gives what is wrong with it as it stands, one sentence each.
const found = [];
const seen = (element) => element.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true });
const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
const what = (element) => `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") || ""}"> ${element.textContent.trim().slice(0, 40)}`;

// --- what nobody may have put there -----------------------------------------------------------
if (window.hacked !== undefined) found.push("foreign code has run");
for (const element of document.querySelectorAll("*")) {
  for (const { name, value } of element.attributes) {
    if (name.startsWith("on")) found.push(`a handler in the document: ${name} of ${what(element)}`);
    if (["href", "src", "srcdoc", "action", "formaction", "xlink:href"].includes(name) && /^\s*(javascript|data|vbscript):/i.test(value) && element.tagName !== "LINK") found.push(`a way to code: ${name}=${value.slice(0, 40)}`);
    if (name === "href" && element.tagName === "A" && !value.startsWith("#")) found.push(`a link out of the page: ${value.slice(0, 40)}`);
  }
}
for (const element of document.querySelectorAll("img, iframe, object, embed, base, frame, video, audio, meta[http-equiv], style")) found.push(`nothing here makes this: ${what(element)}`);
for (const element of document.querySelectorAll("script, link"))
  if (!(element.src || element.href || "a script in the document").startsWith(location.origin) && !element.href?.startsWith("data:image/svg+xml")) found.push(`from elsewhere: ${element.src || element.href || element.textContent}`);
for (const entry of performance.getEntriesByType("resource"))
  if (!entry.name.startsWith(location.origin) && !entry.name.startsWith("data:")) found.push(`asked elsewhere: ${entry.name}`);

// --- names, roles, headings -------------------------------------------------------------------
const name_of = (element) => element.getAttribute("aria-label")
  || (element.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent || "").join(" ").trim()
  || [...(element.labels || [])].map((label) => label.textContent).join(" ").trim() || element.textContent.trim() || element.title;
for (const element of all("a, button, input, select, textarea, [role=img], [role=region], [role=group], dialog[open], nav"))
  if (!name_of(element)) found.push(`without a name: ${what(element)}`);
const levels = all("h1, h2, h3, h4, h5, h6").filter((element) => !element.closest("dialog")).map((element) => Number(element.tagName[1]));
if (levels.filter((level) => level === 1).length !== 1) found.push(`${levels.filter((level) => level === 1).length} first headings`);
levels.reduce((last, level) => {
  if (level > last + 1) found.push(`a heading of level ${level} after one of level ${last}`);
  return level;
}, 0);
for (const selector of ["main", "header", "nav"]) if (all(selector).length !== 1) found.push(`not one ${selector}`);
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`the id ${id} twice`);
for (const table of all("table"))
  for (const th of table.querySelectorAll("th")) if (!["col", "row"].includes(th.scope)) found.push(`a header without scope: ${what(th)}`);
for (const table of all("table")) if (!table.querySelector("th")) found.push(`a table without headers: ${what(table)}`);
for (const element of document.querySelectorAll("[aria-pressed]")) if (!["true", "false"].includes(element.getAttribute("aria-pressed"))) found.push("aria-pressed is neither true nor false");
for (const element of document.querySelectorAll("[tabindex]")) if (element.tabIndex > 0) found.push(`an order of its own for Tab: ${what(element)}`);
if (!document.documentElement.lang || !document.title) found.push("no language or no title");
for (const element of all("*"))
  if (element.scrollWidth > element.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(element).overflowX) && element.tabIndex < 0 && !element.querySelector("a, button"))
    found.push(`scrolls, but not by keyboard: ${what(element)}`);
for (const element of all("button, select, input")) {
  const box = element.getBoundingClientRect();
  if (box.height < 23.5 || box.width < 23.5) found.push(`too small to hit, ${Math.round(box.width)} x ${Math.round(box.height)}: ${what(element)}`);
}

// --- contrast ---------------------------------------------------------------------------------
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
function rgba(colour) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
}
const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
function ground(element) {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    const colour = rgba(getComputedStyle(at).backgroundColor);
    if (colour[3] > 0) layers.push(colour);
    if (colour[3] === 1) break;
  }
  return layers.reverse().reduce((below, top) => over(top, below), rgba(getComputedStyle(document.documentElement).backgroundColor));
}
const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
  const c = colour[i] / 255;
  return sum + weight * (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
}, 0);
const checked = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element || checked.has(element) || !seen(element) || element.closest("noscript, svg, option, .visually-hidden, .skip")) continue;
  checked.add(element);
  const style = getComputedStyle(element), back = ground(element), front = over(rgba(style.color), back);
  const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05), size = parseFloat(style.fontSize);
  const least = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  if (ratio < least) found.push(`contrast ${ratio.toFixed(2)} of ${what(element)}`);
}

// --- the size of the screen -------------------------------------------------------------------
if (document.documentElement.scrollWidth > innerWidth + 1) found.push(`wider than the screen: ${document.documentElement.scrollWidth} of ${innerWidth}`);
// Names may be cut, and tables be wider than a phone; not what one came for.
for (const element of all("header nav, table.jobs td.expected, table.jobs td.state, table.jobs td.progress"))
  if (element.scrollWidth > element.clientWidth + 1) found.push(`cut: ${what(element)}`);
for (const element of all(".scroll, .panel"))
  if (innerWidth > 1000 && !element.closest("details") && element.scrollWidth > element.clientWidth + 1) found.push(`wider than its place: ${name_of(element).slice(0, 40)}, ${element.scrollWidth} of ${element.clientWidth}`);
return [...new Set(found)];
