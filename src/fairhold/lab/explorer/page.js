"use strict";
(function () {
  const at = id => document.getElementById(id), PIECE = 300;
  let content = null, changes = [], result = null, faults = [], chosen = "", room = PIECE, asked = 0;
  const open = new Set(["/"]), before = new Map(), after = new Map(), RESULTS = ["quota", "usage_quota", "fair_share"];
  function make(tag, text, name) {
    const found = document.createElement(tag);
    if (text !== undefined) found.textContent = text;
    if (name) found.className = name;
    return found;
  }
  const group = row => [row.resource_group, row.pool && "pool " + row.pool].filter(Boolean).join(", ");
  const id = (where, consumer, key) => JSON.stringify([where, consumer, key]);
  const rowId = row => id(group(row), row.consumer || "", row.key);
  function number(value) {  // for the length of a bar alone; what is told is the exact text
    if (value === null || value === undefined) return NaN;
    const [above, below] = String(value).split("/");
    return Number(above) / (below === undefined ? 1 : Number(below));
  }
  const shown = value => value === undefined ? "–" : value === null ? "none" : String(value);
  async function ask(what, body) {
    const answer = await fetch(what, body === undefined ? {} :
      {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
    const found = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(found.faults[0].what), {faults: found.faults});
    return found;
  }
  const quoted = text => "'" + text.replaceAll("'", "'\\''") + "'";
  function prefix(entry) { return content.entries.length > 1 ? "policies[" + entry + "]" : ""; }
  function target(text) { return text.slice(0, text.indexOf("=", text.lastIndexOf(":"))); }
  async function attempt(next) {
    const turn = ++asked;
    try {
      const found = await ask("explore", {changes: next});
      if (turn !== asked) return;
      changes = next; result = found; faults = [];
      after.clear();
      for (const [key, value] of before) after.set(key, value);
      for (const row of found.differences) "after" in row ? after.set(rowId(row), row.after) : after.delete(rowId(row));
      const wrong = found.findings.length;
      at("status").textContent = (found.differences.length + " numbers differ; ") +
        (wrong ? "the independent check objects: " + found.findings[0] : "every number was computed again another way");
    } catch (error) {
      if (turn !== asked) return;
      faults = error.faults || [{what: error.message, mend: "is the explorer still running?", place: [], change: ""}];
      at("status").textContent = "Not applied, and the numbers are those before: see below.";
    }
    draw();
    if (chosen) why();
  }
  function edit(where, value) {
    const text = where + "=" + value.trim(), rest = changes.filter(each => target(each) !== where);
    attempt([...rest, text]);
  }
  function made(where, stated) {
    const found = changes.find(each => target(each) === where);
    return found === undefined ? (stated === undefined || stated === null ? "" :
      typeof stated === "object" ? JSON.stringify(stated) : String(stated)) : found.slice(where.length + 1);
  }
  function told(parent, where, place) {
    const under = each => place && each.place.length >= place.length && place.every((step, i) => step === each.place[i]);
    const mine = each => each.change && target(each.change) === where || under(each);
    let isWrong = false;
    for (const [rows, name] of [[faults, "fault"], [result ? result.warnings : content.warnings, "warning"]])
      for (const each of rows.filter(mine)) {
        parent.append(make("span", each.what + (each.mend ? "; " + each.mend : ""), "told " + name));
        isWrong = isWrong || name === "fault";
      }
    return isWrong;
  }
  function field(label, where, stated, place) {
    const whole = make("label", label + " "), input = make("input");
    input.value = made(where, stated);
    input.setAttribute("aria-label", where);
    input.addEventListener("change", () => edit(where, input.value));
    whole.append(input);
    if (told(whole, where, place)) input.setAttribute("aria-invalid", "true");
    return whole;
  }
  function views() {
    const found = new Map();
    for (const row of content.numbers)
      if (row.consumer && RESULTS.includes(row.key.split(".")[0])) found.set(group(row) + ": " + row.key, [group(row), row.key]);
    return found;
  }
  function chosenView() { return views().get(at("view").value) || ["", ""]; }
  function visible() {
    const words = at("filter").value.trim().toLowerCase(), paths = content.consumers.map(each => each.path);
    const parent = path => path.slice(0, path.lastIndexOf("/")) || "/";
    if (!words) return paths.filter(path => {
      for (let above = parent(path); ; above = parent(above)) {
        if (!open.has(above)) return false;
        if (above === "/") return true;
      }
    });
    const kept = new Set();
    for (const path of paths) if (path.toLowerCase().includes(words))
      for (let each = path; each !== "/"; each = parent(each)) kept.add(each);
    return paths.filter(path => kept.has(path));
  }
  function graph(where, key, path, whole) {
    const found = make("div", undefined, "graph"), tail = key.includes(".") ? key.slice(key.indexOf(".")) : "";
    const bar = (value, name, isMark) => {
      const part = Math.min(100, 100 * number(value) / whole);
      if (!(part >= 0)) return;
      const span = make("span", undefined, name);
      span.style[isMark ? "left" : "width"] = part + "%";
      found.append(span);
    };
    bar(before.get(id(where, path, key)), "old"); bar(after.get(id(where, path, key)), "new");
    for (const name of tail ? ["deserved" + tail] : ["owned"]) bar(after.get(id(where, path, name)), "mark", true);
    bar(after.get(id(where, path, "limit" + tail)), "mark limit", true);
    found.title = "above: before; below: after; black: owned or deserved; red: limit";
    return found;
  }
  function draw() {
    const [where, key] = chosenView(), rows = visible(), values = [before, after].map(map => id => number(map.get(id)) || 0);
    const inner = new Set(content.consumers.map(each => each.path.slice(0, each.path.lastIndexOf("/"))));
    const whole = Math.max(...content.consumers.map(each => Math.max(...values.map(of => of(id(where, each.path, key))))), ...values.map(of => of(id(where, "/", key))), 0) || 1;
    const byPath = new Map(content.consumers.map(each => [each.path, each]));
    const head = make("tr");
    for (const name of ["consumer", "", "before", "after", "wants", "settings"]) head.append(make("th", name));
    at("head").replaceChildren(head);
    at("rows").replaceChildren(...rows.slice(0, room).map(path => line(byPath.get(path), inner, where, key, whole)));
    at("more").hidden = rows.length <= room;
    at("more").textContent = "Show more of the " + rows.length;
    at("totals").textContent = key ? "/ " + key + ": " + shown(before.get(id(where, "/", key))) + " → " + shown(after.get(id(where, "/", key))) : "";
    const wrong = [...faults.map(each => [each, "fault"]), ...(result ? result.warnings : content.warnings).map(each => [each, "warning"])];
    at("faults").replaceChildren(...wrong.map(([each, name]) =>
      make("li", (each.change ? each.change + ": " : "") + each.what + (each.mend ? "; " + each.mend : ""), name)));
    at("made").replaceChildren(...changes.map((each, i) => {
      const item = make("li", each + " "), away = make("button", "take back");
      away.addEventListener("click", () => attempt(changes.filter((_, other) => other !== i)));
      item.append(away);
      return item;
    }));
    at("line").value = changes.map(each => "--set " + quoted(each)).join(" ");
    const entries = content.entries.map((entry, i) => Object.fromEntries([...Object.entries(entry.stated), ...entry.settings.filter(name =>
      !Object.keys(entry.stated).some(stated => stated.split(/[.[]/)[0] === name)).map(name => [name, null])]));
    at("groups").replaceChildren(
      ...Object.entries(content.groups).flatMap(([name, stated]) => Object.entries(stated).map(([each, value]) =>
        field(name + " " + each, name + ":" + each, value, ["resource_groups", name]))),
      ...entries.flatMap((stated, i) => Object.entries(stated).map(([each, value]) =>
        field(content.entries[i].policy + " " + each, (prefix(i) ? prefix(i) + "." : "") + "settings:" + each, value, ["policies", i, "settings", each]))));
    fields();
  }
  function line(each, inner, where, key, whole) {
    const row = make("tr"), name = make("th"), path = each.path, depth = path.split("/").length - 2;
    row.className = path === chosen ? "chosen" : "";
    name.style.paddingLeft = depth * 1.2 + "rem";
    if (inner.has(path)) {
      const button = make("button", open.has(path) ? "▾" : "▸", "open");
      button.setAttribute("aria-expanded", String(open.has(path)));
      button.setAttribute("aria-label", "consumers below " + path);
      button.addEventListener("click", () => { open.has(path) ? open.delete(path) : open.add(path); draw(); });
      name.append(button);
    }
    const button = make("button", path.slice(path.lastIndexOf("/") + 1), "name");
    button.title = path;
    button.addEventListener("click", () => { chosen = path; draw(); why(); });
    name.append(button);
    const [old, now] = [before, after].map(map => map.get(id(where, path, key)));
    const cell = make("td"), sign = number(now) > number(old) ? "up" : number(now) < number(old) ? "down" : "";
    cell.append(graph(where, key, path, whole));
    const wants = make("td"), settings = make("td");
    for (const [name, value] of Object.entries(each.demand))
      wants.append(field(name === "demand" ? "" : name.slice(7), path + ":" + name, value));
    each.stated.forEach((stated, entry) => {
      for (const [name, value] of Object.entries(stated))
        settings.append(field(name, prefix(entry) + path + ":" + name, value, ["policies", entry, "consumers", path, name]));
    });
    row.append(name, cell, make("td", shown(old)), make("td", shown(now), sign), wants, settings);
    return row;
  }
  function fields() {
    const each = content.consumers.find(one => one.path === chosen);
    at("fields").replaceChildren(...(each ? content.entries.flatMap((entry, i) => entry.keys.filter(key =>
      !Object.keys(each.stated[i]).some(stated => stated.split(/[.[]/)[0] === key)).map(key =>
      field(entry.policy + " " + key, prefix(i) + chosen + ":" + key, null, ["policies", i, "consumers", chosen, key]))) : []));
  }
  async function why() {
    const path = chosen, told = changes;
    at("whom").textContent = "Why " + path;
    try {
      const found = await ask("why", {changes: told, consumer: path});
      if (path !== chosen || told !== changes) return;
      at("after").textContent = found.after; at("before").textContent = found.before;
    } catch (error) { at("after").textContent = error.message; }
  }
  async function download() {
    const found = await ask("plan", {changes}), link = make("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(found, null, 1) + "\n"], {type: "application/json"}));
    link.download = "plan.json";
    link.click();
    URL.revokeObjectURL(link.href);
  }
  async function start() {
    content = await ask("content");
    for (const row of content.numbers) { before.set(rowId(row), row.after); after.set(rowId(row), row.after); }
    at("view").replaceChildren(...[...views().keys()].map(name => { const one = make("option", name); one.value = name; return one; }));
    at("view").value = [...views().keys()][0] || "";
    at("status").textContent = content.consumers.length + " consumers. Change a number and press Enter; the plan's file stays as it is.";
    at("view").addEventListener("change", draw);
    at("filter").addEventListener("input", () => { room = PIECE; draw(); });
    at("more").addEventListener("click", () => { room += PIECE; draw(); });
    at("undo").addEventListener("click", () => { if (changes.length) attempt(changes.slice(0, -1)); });
    at("copy").addEventListener("click", () => { navigator.clipboard.writeText(at("line").value); });
    at("download").addEventListener("click", () => { download(); });
    draw();
  }
  start().catch(error => { at("status").textContent = "The plan cannot be shown: " + error.message; });
})();
