// Hand-offs: who reaches whom, drawn in columns by the number of hand-offs from the root agent, and as a list.

const BOX = { width: 168, height: 24, gap: 8, between: 132, top: 34 };

const handoffs = {
  title: "Hand-offs",
  asks: "Search agents and hand-offs…",
  at: null, // the agent that has the keyboard

  draw(view, query) {
    const sought = (agent) => has(`${agent.name} ${agent.description ?? ""} ${agent.handoff}`.toLowerCase(), query.words);
    const fits = new Set(agentsFor(query).filter(sought).map((agent) => agent.name));
    const links = DATA.links.filter((one) => fits.has(one.source) || fits.has(one.target) || has(one.tool.toLowerCase(), query.words));
    handoffs.at ??= DATA.orchestrator;
    view.append(h("div", { class: "graph frame" }, handoffs.graph(fits)), handoffs.list(links));
    return `${several(links.length, "hand-off")}, ${several(fits.size, "agent")}`;
  },

  controls() {
    const kinds = [
      ["direct", "sent to the agent"],
      ["packed", "put away behind the opener"],
      ["denied", "granted, and cannot be called"],
    ];
    const shown = kinds.map(([state, words]) =>
      h("span", { class: "state" }, s("svg", { class: "stroke", "aria-hidden": "true" }, s("path", { d: "M0 6h34", class: `edge is-${state}` })), words),
    );
    return h("div", { class: "legend" }, shown, h("span", { class: "callable" }, "Columns count the hand-offs from the root agent. Choose an agent to see its own."));
  },

  /** Where every agent stands: columns by distance, in each by name; those that nobody reaches last. */
  layout() {
    const depths = AGENTS.map((agent) => agent.depth).filter((depth) => depth !== null);
    const beyond = Math.max(0, ...depths) + 1;
    const columns = [];
    for (const agent of AGENTS) {
      const column = agent.depth ?? beyond;
      (columns[column] ??= []).push(agent);
    }
    const tallest = Math.max(...columns.filter(Boolean).map((column) => column.length));
    const places = new Map();
    columns.forEach((column, x) => {
      const lead = Math.min((tallest - column.length) / 2, 9); // short columns stand in the middle, in sight
      column.forEach((agent, y) => places.set(agent.name, { x: x * (BOX.width + BOX.between), y: BOX.top + (lead + y) * (BOX.height + BOX.gap), column: x }));
    });
    return { columns, places, beyond, tallest };
  },

  graph(fits) {
    const { columns, places, beyond, tallest } = handoffs.layout();
    const width = columns.length * (BOX.width + BOX.between) - BOX.between + 90;
    const height = BOX.top + tallest * (BOX.height + BOX.gap) + 4;
    const heads = columns.map((column, x) => {
      if (!column) return null;
      const words = x === 0 ? "root" : x === beyond ? "no hand-off leads here" : several(x, "hand-off");
      return s("text", { x: x * (BOX.width + BOX.between), y: 16, class: "column" }, words);
    });
    const order = [...DATA.links].sort((a, b) => CALLABLE.has(a.state) - CALLABLE.has(b.state));
    const edges = order.map((one) => handoffs.edge(one, places)).filter(Boolean);
    const nodes = AGENTS.map((agent) => handoffs.node(agent, places.get(agent.name), fits));
    const svg = s(
      "svg",
      { viewBox: `-4 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Agents and hand-offs; arrow keys move, Enter shows an agent" },
      s("defs", {}, s("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, s("path", { d: "M0 0 8 4 0 8z", class: "tip" }))),
      heads,
      s("g", { class: "edges" }, edges),
      nodes,
    );
    svg.addEventListener("keydown", (event) => handoffs.keyed(event, places));
    handoffs.svg = svg;
    return svg;
  },

  edge(one, places) {
    const from = places.get(one.source);
    const to = places.get(one.target);
    if (!from || !to) return null;
    const y1 = from.y + BOX.height / 2;
    const y2 = to.y + BOX.height / 2;
    const x1 = from.x + BOX.width;
    const forward = to.column > from.column;
    const x2 = forward ? to.x : to.x + BOX.width;
    const bend = forward ? (x2 - x1) / 2 : 26 + Math.min(60, Math.abs(y2 - y1) / 5);
    const path = forward
      ? `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
      : `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 + bend} ${y2} ${x2} ${y2}`;
    const kind = CALLABLE.has(one.state) ? one.state : "denied";
    return s("path", { d: path, class: `edge is-${kind}`, "marker-end": "url(#tip)", "data-source": one.source, "data-target": one.target }, s("title", {}, `${one.source} hands to ${one.target} by ${one.tool} (${one.state})`));
  },

  node(agent, at, fits) {
    const out = DATA.links.filter((one) => one.source === agent.name && CALLABLE.has(one.state)).length;
    const classes = ["node", agent.refused && "is-refused", agent.name === DATA.orchestrator && "is-root", !fits.has(agent.name) && "faded"];
    const words = `${agent.name}${agent.refused ? ", cannot start" : ""}: hands to ${several(out, "agent")}`;
    const node = s(
      "g",
      {
        class: classes.filter(Boolean).join(" "),
        transform: `translate(${at.x} ${at.y})`,
        tabindex: agent.name === handoffs.at ? "0" : "-1",
        role: "button",
        "aria-label": words,
        "data-agent": agent.name,
        onclick: () => handoffs.choose(agent),
        onfocus: () => handoffs.light(agent.name),
        onmouseenter: () => handoffs.light(agent.name),
        onmouseleave: () => handoffs.light(null),
      },
      s("title", {}, agent.description ?? agent.name),
      s("rect", { width: BOX.width, height: BOX.height, rx: 5 }),
      s("text", { x: 9, y: 16 }, agent.name.length > 22 ? `${agent.name.slice(0, 21)}…` : agent.name),
      out > 0 && s("text", { x: BOX.width - 8, y: 16, class: "count", "text-anchor": "end" }, number(out)),
    );
    return node;
  },

  choose(agent) {
    handoffs.focus(agent.name);
    showAgent(agent);
  },

  focus(name) {
    for (const node of handoffs.svg.querySelectorAll("[data-agent]")) node.setAttribute("tabindex", node.dataset.agent === name ? "0" : "-1");
    handoffs.at = name;
    const node = [...handoffs.svg.querySelectorAll("[data-agent]")].find((one) => one.dataset.agent === name);
    node?.focus();
  },

  /** Brings out the hand-offs from and to an agent. */
  light(name) {
    handoffs.svg.classList.toggle("lit", name !== null);
    for (const edge of handoffs.svg.querySelectorAll(".edge")) {
      edge.classList.toggle("on", edge.dataset.source === name || edge.dataset.target === name);
    }
  },

  keyed(event, places) {
    const steps = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
    const here = places.get(handoffs.at);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      handoffs.choose(AGENT.get(handoffs.at));
    } else if (steps[event.key]) {
      event.preventDefault();
      const [dx, dy] = steps[event.key];
      const ahead = [...places].filter(([, at]) => (dx ? Math.sign(at.column - here.column) === dx : at.column === here.column && Math.sign(at.y - here.y) === dy));
      const far = ([, at]) => Math.abs(at.column - here.column) * 1e6 + Math.abs(at.y - here.y);
      ahead.sort((a, b) => far(a) - far(b));
      if (ahead.length) handoffs.focus(ahead[0][0]);
    }
  },

  list(links) {
    const rows = links.map((one) =>
      h(
        "tr",
        {},
        h("td", {}, AGENT.has(one.source) ? link(one.source, () => showAgent(AGENT.get(one.source))) : one.source),
        h("td", {}, AGENT.has(one.target) ? link(one.target, () => showAgent(AGENT.get(one.target))) : one.target),
        h("td", {}, h("code", {}, one.tool)),
        h("td", {}, badge(one.state)),
      ),
    );
    const heads = ["who", "hands to", "by", "which is"].map((words) => h("th", { scope: "col" }, words));
    return h("details", { class: "list" }, h("summary", {}, "The same as a list"), h("table", { class: "plain" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));
  },
};
