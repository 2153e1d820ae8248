"use strict";
(function () {
  const content = JSON.parse(document.getElementById("content").textContent);
  function rows(series) {
    const found = [];
    for (const each of series) {
      const {begin, step, columns, ...same} = each;
      const names = Object.keys(columns), count = columns[names[0]].length;
      for (let at = 0; count && at <= count; at++) {
        const row = {...same, t: begin + at * step};
        for (const name of names) row[name] = columns[name][Math.min(at, count - 1)];
        found.push(row);
      }
    }
    return found;
  }
  function unpack(columns) {
    const names = Object.keys(columns), found = [];
    const first = names.length ? columns[names[0]] : [], count = (Array.isArray(first) ? first : first.at).length;
    for (let at = 0; at < count; at++) {
      const row = {};
      for (const name of names) {
        const column = columns[name];
        row[name] = Array.isArray(column) ? column[at] : column.words[column.at[at]];
      }
      found.push(row);
    }
    return found;
  }
  function draw(resource, place) {
    const data = {...resource.views[0], ...resource.views[place]}, ready = {};
    for (const name of Object.keys(data))
      ready[name] = Array.isArray(data[name]) ? rows(data[name]) : unpack(data[name]);
    for (const chart of resource.charts) {
      const spec = {...chart.spec, datasets: Object.fromEntries(chart.needs.map(name => [name, ready[name]]))};
      const element = document.getElementById(chart.id);
      const isEmpty = chart.needs.every(name => !ready[name].length);
      if (isEmpty) { element.textContent = "Nothing of it here."; continue; }
      vegaEmbed(element, spec, {actions: false, renderer: "svg", config: content.theme})
        .catch(error => { element.textContent = "This plot cannot be drawn: " + error.message; });
    }
  }
  content.resources.forEach(resource => draw(resource, 0));
  for (const choice of document.querySelectorAll("select[data-resource]"))
    choice.addEventListener("change", () => draw(content.resources[+choice.dataset.resource], +choice.value));
})();
