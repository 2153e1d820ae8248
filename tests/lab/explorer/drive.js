// Runs the page's script on a small document, against the real server; prints what a person would see.
"use strict";
const {base, script} = JSON.parse(require("fs").readFileSync(0, "utf8"));
class Element {
  constructor(tag) { this.tag = tag; this.children = []; this.own = ""; this.listeners = {}; this.attributes = {}; this.style = {}; this.value = ""; }
  get textContent() { return this.own + this.children.map(each => each.textContent ?? each).join(""); }
  set textContent(text) { this.own = text; this.children = []; }
  append(...more) { this.children.push(...more); }
  replaceChildren(...more) { this.children = more; }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(name, call) { this.listeners[name] = call; }
  focus() { document.activeElement = this; }
  setSelectionRange(...range) { [this.selectionStart, this.selectionEnd] = range; }
  closest() { return at("rows").children.find(each => each.all(one => one === this).length) ?? null; }
  all(test) { return [...(test(this) ? [this] : []), ...this.children.flatMap(each => each.all ? each.all(test) : [])]; }
}
const byId = new Map(), at = id => byId.get(id) ?? byId.set(id, new Element("div")).get(id);
globalThis.document = {getElementById: at, createElement: tag => new Element(tag)};
const real = globalThis.fetch;
let waiting = 0;
globalThis.fetch = async (what, how) => {
  waiting++;
  try {
    const answer = await real(base + what, how), text = await answer.text();
    return {ok: answer.ok, json: async () => JSON.parse(text)};
  } finally { setTimeout(() => { waiting--; }, 20); }
};
const quiet = async () => { do await new Promise(done => setTimeout(done, 40)); while (waiting); };
const focused = () => document.activeElement.key;
function press(key) { at("rows").listeners.keydown({key, target: document.activeElement, preventDefault() {}}); return focused(); }
const names = () => at("rows").all(each => each.className === "name").map(each => each.textContent);
const row = path => at("rows").children.find(each => each.all(one => one.title === path).length);
const ends = path => row(path).children.slice(2, 4).map(each => each.textContent);
async function type(label, value) {
  const [input] = at("rows").all(each => each.attributes["aria-label"] === label);
  input.value = value;
  input.listeners.change();
  await quiet();
}
(async () => {
  (0, eval)(script);
  await quiet();
  const found = {rows: names()};
  at("rows").all(each => each.className === "open")[0].listeners.click();
  found.opened = names();
  at("filter").value = "fx"; at("filter").listeners.input();
  found.filtered = names();
  at("filter").value = ""; at("filter").listeners.input();
  row("/Research").all(each => each.className === "name")[0].listeners.click();
  await type("/Research:demand", "20");
  Object.assign(found, {research: ends("/Research"), line: at("line").value, after: at("after").textContent, before: at("before").textContent});
  at("rows").all(each => each.key === "/Trading" && each.tag === "button")[0].focus();
  found.walk = ["ArrowLeft", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "End", "Home"].map(press);
  const [owned] = at("rows").all(each => each.key === "/Trading:owned" && each.tag === "input");
  owned.focus();
  found.column = [press("ArrowDown"), press("ArrowUp")];
  owned.value = "5";
  owned.setSelectionRange(1, 1);
  at("view").listeners.change();
  found.typed = [focused(), document.activeElement.value, document.activeElement.selectionEnd, document.activeElement !== owned];
  await type("/Trading:owned", "50");
  found.refused = at("rows").all(each => each.key === "/Trading:owned" && each.tag === "input")[0].value;
  found.faults = at("faults").children.map(each => each.textContent);
  found.invalid = [...new Set(at("rows").all(each => each.attributes["aria-invalid"] === "true").map(each => each.attributes["aria-label"]))];
  at("undo").listeners.click();
  await quiet();
  found.undone = ends("/Research");
  console.log(JSON.stringify(found));
})().catch(error => { console.error(error); process.exit(1); });
