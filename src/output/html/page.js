
"use strict";
// Shows the entries that the fragment of the address asks for: q has words, s a section, level how bad they are.
const find = (id) => document.getElementById(id);
const [controls, words, level, count] = ["controls", "q", "level", "count"].map(find);
const links = [...document.querySelectorAll("nav a")];
const sections = [...document.querySelectorAll("main section")];
const tables = [...document.querySelectorAll("main .scroll")];
const entries = [...document.querySelectorAll("main .entry, main tbody tr")].map((element) => ({ element, section: element.closest("main > section").id }));
const wanted = () => new URLSearchParams(location.hash.slice(1));

// Learned at the first filter: a large page has thousands of entries.
function learn(entry) {
  entry.text = entry.element.textContent.toLowerCase();
  entry.worst = entry.element.querySelector(".bad") ? 2 : entry.element.querySelector(".notice") ? 1 : 0;
  // node-3…17 is all from node-3 to node-17.
  entry.ranges = [...entry.text.matchAll(/([^\s,]*?)(\d+)…(\d+)/g)];
}

function has({ text, ranges }, word) {
  if (text.includes(word)) return true;
  const [, name, number] = /^(.*?)(\d+)$/.exec(word) ?? [];
  return name !== undefined && ranges.some(([, before, first, last]) => before === name && +first <= +number && +number <= +last);
}

function show() {
  const asked = wanted();
  words.value = asked.get("q") ?? "";
  level.value = asked.get("level") ?? "0";
  const all = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const filters = all.length > 0 || level.value > 0;
  if (filters && entries[0]?.text === undefined) entries.forEach(learn);
  const only = asked.get("s");
  const isOther = (section) => only && section !== `s=${only}`;
  let [shown, possible] = [0, 0];
  for (const entry of entries) {
    const fits = !filters || (entry.worst >= level.value && all.every((word) => has(entry, word)));
    entry.element.hidden = !fits;
    if (isOther(entry.section)) continue;
    shown += fits;
    possible += 1;
  }
  const isEmpty = (part) => filters && !part.querySelector(".entry:not([hidden]), tbody tr:not([hidden])");
  for (const table of tables) table.hidden = isEmpty(table);
  for (const section of sections) {
    section.hidden = (section.id && isOther(section.id)) || isEmpty(section);
  }
  // One section stands below the filters.
  document.body.classList.toggle("one", Boolean(only));
  if (only) scrollTo(0, 0);
  count.textContent = filters ? `${shown} of ${possible} entries` : "";
  for (const link of links) {
    const section = new URLSearchParams(link.hash.slice(1)).get("s") ?? "";
    if (section === (only ?? "")) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    link.setAttribute("href", address(section));
  }
}

function address(section) {
  const values = { q: words.value, level: level.value === "0" ? "" : level.value, s: section };
  return `#${new URLSearchParams(Object.entries(values).filter(([, value]) => value))}`;
}

function change() {
  history.replaceState(null, "", address(wanted().get("s") ?? ""));
  show();
}

words.addEventListener("input", change);
level.addEventListener("change", change);
addEventListener("hashchange", show);
controls.hidden = false;
show();
