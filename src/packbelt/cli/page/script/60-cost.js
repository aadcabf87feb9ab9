// Cost: what each agent's tools and sections cost as they are sent, and with nothing put away.

const PARTS = [
  ["handoffs", "hand-offs"],
  ["native", "native tools"],
  ["servers", "tools of servers"],
  ["opener", "opener and search"],
  ["overhead", "overhead of having tools"],
  ["sections", "sections of the prompt"],
];

const TORN = 4; // how many times the longest bar of what is sent a bar may be

const cost = {
  title: "Cost",
  asks: "Search agents…",
  by: "packed",

  draw(view, query) {
    const priced = agentsFor(query).filter((agent) => agent.tokens && has(`${agent.name} ${agent.description ?? ""}`.toLowerCase(), query.words));
    const keys = {
      agent: (a, b) => a.name.localeCompare(b.name),
      packed: (a, b) => b.tokens.total - a.tokens.total,
      unpacked: (a, b) => b.tokens.total_if_unpacked - a.tokens.total_if_unpacked,
      saved: (a, b) => savedBy(b) - savedBy(a),
    };
    if (!priced.length) {
      view.append(h("p", { class: "empty" }, "No agent fits."));
      return "0 agents";
    }
    const sorted = [...priced].sort((a, b) => keys[cost.by](a, b) || a.name.localeCompare(b.name));
    const longest = Math.max(1, ...sorted.map((agent) => Math.max(agent.tokens.total, agent.tokens.total_if_unpacked)));
    // One agent with a thousand tools must not flatten all the others: its longer bar is torn off.
    const most = Math.min(longest, TORN * Math.max(1, ...sorted.map((agent) => agent.tokens.total)));
    const heads = [
      ["agent", "agent", "text"],
      [null, "tokens of a request: as sent above, with nothing put away below", "bars"],
      ["packed", "packed", "figure"],
      ["unpacked", "unpacked", "figure"],
      ["saved", "saved", "figure"],
    ].map(([key, words, kind]) =>
      h("th", { scope: "col", class: kind, "aria-sort": key === cost.by ? (key === "agent" ? "ascending" : "descending") : undefined }, key ? h("button", { type: "button", class: "sort", onclick: () => cost.sort(key) }, words) : words),
    );
    const table = h("table", { class: "plain cost" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, sorted.map((agent) => cost.row(agent, most))), cost.sum(sorted));
    view.append(h("div", { class: "frame" }, table), h("p", { class: "method" }, DATA.method, most < longest && `. Bars end at ${number(most)} tokens; what is longer is torn off.`));
    return `${several(sorted.length, "agent")}`;
  },

  controls() {
    const used = PARTS.filter(([kind]) => AGENTS.some((agent) => agent.tokens && (agent.tokens.parts[kind] || agent.tokens.parts_if_unpacked[kind])));
    const keys = used.map(([kind, words]) => h("span", { class: "state" }, h("span", { class: `swatch part-${kind}` }), words));
    return h("div", { class: "legend" }, keys);
  },

  row(agent, most) {
    const { total, total_if_unpacked: unpacked, parts, parts_if_unpacked: all } = agent.tokens;
    const saved = savedBy(agent);
    const share = unpacked ? ` ${Math.round((100 * saved) / unpacked)} %` : "";
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, link(agent.name, () => showAgent(agent))),
      h("td", { class: "bars" }, bar(parts, total, most, "as sent"), bar(all, unpacked, most, "with nothing put away")),
      h("td", { class: "figure" }, number(total)),
      h("td", { class: "figure" }, number(unpacked)),
      h("td", { class: saved < 0 ? "figure worse" : "figure" }, saved ? number(saved) : "–", saved ? h("small", {}, share) : null),
    );
  },

  sum(agents) {
    const packed = agents.reduce((sum, agent) => sum + agent.tokens.total, 0);
    const unpacked = agents.reduce((sum, agent) => sum + agent.tokens.total_if_unpacked, 0);
    return h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "together"), h("td", {}), h("td", { class: "figure" }, number(packed)), h("td", { class: "figure" }, number(unpacked)), h("td", { class: "figure" }, number(unpacked - packed))));
  },

  sort(key) {
    cost.by = key;
    redraw();
    [...document.querySelectorAll(".sort")].find((one) => one.textContent === key)?.focus();
  },
};

const savedBy = (agent) => agent.tokens.total_if_unpacked - agent.tokens.total;

function bar(parts, total, most, about) {
  const there = PARTS.filter(([kind]) => parts[kind]);
  const words = there.map(([kind, name]) => `${number(parts[kind])} ${name}`).join(", ");
  const segments = there.map(([kind, name]) => {
    const segment = h("span", { class: `part-${kind}`, title: `${number(parts[kind])} tokens: ${name}, ${about}` });
    segment.style.width = `${(100 * parts[kind]) / most}%`;
    return segment;
  });
  return h("div", { class: total > most ? "bar torn" : "bar", role: "img", "aria-label": `${about}: ${several(total, "token")}${words ? ` (${words})` : ""}` }, segments);
}
