"use strict";
(function () {
  const at = id => document.getElementById(id), PIECE = 300, MOST_TOLD = 100;
  let content = null, changes = [], result = null, faults = [], chosen = "", room = PIECE, asked = 0;
  let seen = new Map(), shownRows = [], paths = [], below = new Map(), byPath = new Map(), view = new Map(), mine = new Map(), tried = null;
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
    tried = null;
    at("status").textContent = "Working it out …";
    try {
      const found = await ask("explore", {changes: next});
      if (turn !== asked) return;
      changes = next; result = found; faults = [];
      after.clear();
      for (const [key, value] of before) after.set(key, value);
      for (const row of found.differences) "after" in row ? after.set(rowId(row), row.after) : after.delete(rowId(row));
      const wrong = found.findings.length;
      at("status").textContent = (found.differences.length + " numbers differ; ") +
        (wrong ? "the independent check objects: " + found.findings[0] : "every number was computed again by independent code");
    } catch (error) {
      if (turn !== asked) return;
      tried = next[next.length - 1] || null;
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
  const wrong = () => [...faults.map(each => [each, "fault"]), ...(result ? result.warnings : content.warnings).map(each => [each, "warning"])];
  function sort() {  // what is wrong, by the field that it belongs to: the one that was changed, or stands around it
    mine = new Map();
    const put = (key, row) => { mine.has(key) ? mine.get(key).push(row) : mine.set(key, [row]); };
    for (const row of wrong()) {
      if (row[0].change) put(target(row[0].change), row);
      row[0].place.forEach((_, i) => put(JSON.stringify(row[0].place.slice(0, i + 1)), row));
    }
  }
  function told(parent, where, place) {
    const rows = new Set([...mine.get(where) || [], ...place && mine.get(JSON.stringify(place)) || []]);
    for (const [each, name] of rows) parent.append(make("span", each.what + (each.mend ? "; " + each.mend : ""), "told " + name));
    return [...rows].some(([, name]) => name === "fault");
  }
  function field(label, where, stated, place) {
    const whole = make("label", label + " "), input = make("input");
    input.value = input.known = made(where, stated);
    if (tried && target(tried) === where) input.value = tried.slice(where.length + 1);  // what was refused can be mended
    input.setAttribute("aria-label", where);
    if (stated === undefined || stated === null) input.placeholder = "not said";
    input.addEventListener("change", () => { if (input.value.trim() !== input.known || tried) edit(where, input.value); });
    whole.append(input);
    if (told(whole, where, place)) input.setAttribute("aria-invalid", "true");
    seen.set(whole.key = input.key = where, input);
    return whole;
  }
  function views() {
    const found = new Map();
    for (const row of content.numbers)
      if (row.consumer && RESULTS.includes(row.key.split(".")[0])) found.set(group(row) + ": " + row.key, [group(row), row.key]);
    return found;
  }
  function chosenView() { return view.get(at("view").value) || ["", ""]; }
  const parent = path => path.slice(0, path.lastIndexOf("/")) || "/";
  function visible() {
    const words = at("filter").value.trim().toLowerCase();
    if (words) {
      const kept = new Set();
      for (const path of paths) if (path.toLowerCase().includes(words))
        for (let each = path; each !== "/" && !kept.has(each); each = parent(each)) kept.add(each);
      return paths.filter(path => kept.has(path));
    }
    const found = [], walk = path => { for (const each of below.get(path) || []) { found.push(each); if (open.has(each)) walk(each); } };
    walk("/");
    return found;
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
    found.setAttribute("aria-hidden", "true");  // beside it stand the numbers
    return found;
  }
  function largest(where, key) {  // limits that are far beyond all else are drawn at the end of the bar
    const tail = key.includes(".") ? key.slice(key.indexOf(".")) : "";
    const most = (name, top) => {
      let found = 0;
      for (const map of [before, after]) for (const path of paths) {
        const value = number(map.get(id(where, path, name))) || 0;
        if (value > found && value <= top) found = value;
      }
      return found;
    };
    const found = Math.max(most(key, Infinity), most(tail ? "deserved" + tail : "owned", Infinity));
    return Math.max(found, most("limit" + tail, 2 * found)) || 1;
  }
  function draw() {
    const active = document.activeElement, had = active && active.key, text = active && active.known !== undefined && active.value !== active.known ? active.value : null;
    const from = active && active.selectionStart, to = active && active.selectionEnd;
    seen = new Map();
    sort();
    const [where, key] = chosenView(), rows = visible(), whole = largest(where, key);
    const head = make("tr");
    for (const name of ["consumer", key, "before", "after", "wants", "settings"]) {
      const one = make("th", name);
      one.setAttribute("scope", "col");
      head.append(one);
    }
    at("head").replaceChildren(head);
    shownRows = rows.slice(0, room);
    at("rows").replaceChildren(...shownRows.map(path => line(byPath.get(path), where, key, whole)));
    at("more").hidden = rows.length <= room;
    at("more").textContent = "Show " + Math.min(PIECE, rows.length - room) + " more of " + rows.length;
    at("totals").textContent = key ? "/ " + key + ": " + shown(before.get(id(where, "/", key))) + " → " + shown(after.get(id(where, "/", key))) : "";
    const told = wrong();
    at("faults").replaceChildren(...told.slice(0, MOST_TOLD).map(([each, name]) =>
      make("li", (each.change ? each.change + ": " : "") + each.what + (each.mend ? "; " + each.mend : ""), name)),
    ...(told.length > MOST_TOLD ? [make("li", "and " + (told.length - MOST_TOLD) + " more")] : []));
    at("made").replaceChildren(...changes.map((each, i) => {
      const item = make("li", each + " "), away = make("button", "take back");
      away.setAttribute("aria-label", "take back " + each);
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
        field([prefix(i), content.entries[i].policy, each].filter(Boolean).join(" "), (prefix(i) ? prefix(i) + "." : "") + "settings:" + each, value, ["policies", i, "settings", each]))));
    fields();
    const again = had && seen.get(had);  // whoever types or walks stays where he is
    if (again) {
      again.focus({preventScroll: true});
      if (text !== null) again.value = text;
      if (typeof from === "number") again.setSelectionRange(from, to);
    }
  }
  function turn(path, isOpen) { isOpen ? open.add(path) : open.delete(path); draw(); }
  function line(each, where, key, whole) {
    const row = make("tr"), name = make("th"), path = each.path, depth = path.split("/").length - 2;
    row.className = path === chosen ? "chosen" : "";
    row.setAttribute("aria-level", String(depth + 1));
    row.setAttribute("aria-selected", String(path === chosen));
    name.setAttribute("scope", "row");
    name.style.paddingLeft = depth * 1.2 + (below.has(path) ? 0 : 1.1) + "rem";
    if (below.has(path)) {
      const button = make("button", open.has(path) ? "▾" : "▸", "open");
      row.setAttribute("aria-expanded", String(open.has(path)));
      button.setAttribute("aria-expanded", String(open.has(path)));
      button.setAttribute("aria-label", "consumers below " + path);
      button.tabIndex = -1;  // by keys the name opens and closes
      button.addEventListener("click", () => turn(path, !open.has(path)));
      name.append(button);
    }
    const button = make("button", path.slice(path.lastIndexOf("/") + 1), "name");
    button.title = button.key = path;
    seen.set(path, button);
    button.addEventListener("click", () => { chosen = path; draw(); why(); });
    name.append(button);
    const [old, now] = [before, after].map(map => map.get(id(where, path, key)));
    const cell = make("td"), sign = number(now) > number(old) ? "up" : number(now) < number(old) ? "down" : "";
    cell.append(graph(where, key, path, whole));
    const wants = make("td", undefined, "stated"), settings = make("td", undefined, "stated");
    for (const [name, value] of Object.entries(each.demand))
      wants.append(field(name === "demand" ? "" : name.slice(7), path + ":" + name, value));
    each.stated.forEach((stated, entry) => {
      for (const [name, value] of Object.entries(stated))
        settings.append(field(name, prefix(entry) + path + ":" + name, value, ["policies", entry, "consumers", path, name]));
    });
    row.path = path;
    row.append(name, cell, make("td", shown(old)), make("td", shown(now), sign), wants, settings);
    return row;
  }
  function fields() {
    const each = byPath.get(chosen);
    at("fields").replaceChildren(...(each ? content.entries.flatMap((entry, i) => entry.keys.filter(key =>
      !Object.keys(each.stated[i]).some(stated => stated.split(/[.[]/)[0] === key)).map(key =>
      field(entry.policy + " " + key, prefix(i) + chosen + ":" + key, null, ["policies", i, "consumers", chosen, key]))) : []));
  }
  function walk(event) {
    const row = event.target.closest("tr[aria-level]");
    if (!row || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const path = row.path, isName = event.target.key === path, place = shownRows.indexOf(path);
    const go = key => { const to = seen.get(key); if (to) to.focus(); return Boolean(to); };
    const far = (step, key) => { for (let i = place + step; i >= 0 && i < shownRows.length; i += step) if (go(key(shownRows[i]))) return; };
    const same = other => isName ? other : event.target.key.replace(path + ":", other + ":");
    const does = {ArrowDown: () => far(1, same), ArrowUp: () => far(-1, same)};
    if (isName) Object.assign(does, {
      ArrowRight: () => { below.has(path) && !open.has(path) ? turn(path, true) : below.has(path) && go(below.get(path)[0]); },
      ArrowLeft: () => { open.has(path) ? turn(path, false) : go(parent(path)); },
      Home: () => go(shownRows[0]), End: () => go(shownRows[shownRows.length - 1])});
    if (!does[event.key] || !event.target.key) return;
    event.preventDefault();
    does[event.key]();
  }
  async function copy() {
    try { await navigator.clipboard.writeText(at("line").value); } catch { at("line").select(); return; }
    at("status").textContent = changes.length ? "Copied." : "There is no change to copy.";
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
    for (const each of content.consumers) {
      paths.push(each.path);
      byPath.set(each.path, each);
      const above = parent(each.path);
      below.has(above) ? below.get(above).push(each.path) : below.set(above, [each.path]);
    }
    view = views();
    for (const row of content.numbers) { before.set(rowId(row), row.after); after.set(rowId(row), row.after); }
    at("view").replaceChildren(...[...view.keys()].map(name => { const one = make("option", name); one.value = name; return one; }));
    at("view").value = [...view.keys()][0] || "";
    at("status").textContent = content.consumers.length + " consumers. Change a number and press Enter; the plan's file stays as it is.";
    at("view").addEventListener("change", draw);
    at("filter").addEventListener("input", () => { room = PIECE; draw(); });
    at("more").addEventListener("click", () => { room += PIECE; draw(); });
    at("undo").addEventListener("click", () => { if (changes.length || tried) attempt(changes.slice(0, -1)); });
    at("copy").addEventListener("click", copy);
    at("rows").addEventListener("keydown", walk);
    at("download").addEventListener("click", () => { download(); });
    draw();
  }
  start().catch(error => { at("status").textContent = "The plan cannot be shown: " + error.message; });
})();
