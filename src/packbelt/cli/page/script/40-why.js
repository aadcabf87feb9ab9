// The panel beside the view: why a tool is in its state for an agent, rule by rule.

const panel = {
  element: null,
  back: null, // what gets the keyboard when the panel closes

  show(title, ...parts) {
    const active = document.activeElement;
    if (active && !panel.element.contains(active) && active !== document.body) panel.back = active;
    const head = h("h2", { tabindex: "-1", id: "panel-title" }, title);
    const close = h("button", { type: "button", class: "close", onclick: panel.hide }, h("span", { "aria-hidden": "true" }, "✕"), h("span", { class: "unseen" }, "Close"));
    panel.element.replaceChildren(close, head, ...parts.flat(Infinity).filter(Boolean));
    panel.element.hidden = false;
    document.body.classList.add("with-panel");
    panel.element.scrollTop = 0;
    head.focus({ preventScroll: true });
  },

  hide() {
    if (panel.element.hidden) return;
    panel.element.hidden = true;
    document.body.classList.remove("with-panel");
    belts.chosen = null;
    belts.mark();
    remember();
    if (panel.back?.isConnected) panel.back.focus();
    else document.querySelector(".matrix [tabindex='0'], #view")?.focus();
  },
};

const facts = (pairs) =>
  h("dl", { class: "facts" }, pairs.filter(([, value]) => value).map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]));

const link = (text, onclick) => h("button", { type: "button", class: "link", onclick }, text);

function showTool(agent, row) {
  const tool = TOOLS[row];
  const family = FAMILY_OF[row];
  const why = DATA.explanations[agent.why[row]];
  belts.chosen = { agent, tool: row };
  remember();
  panel.show(
    named(tool.wire_name),
    h("p", { class: "verdict" }, badge(why.state), " for ", named(agent.name), `: ${SAYS.get(why.state)}.`),
    tool.description && h("p", { class: "description" }, tool.description),
    facts([
      ["identity", tool.source.startsWith("server:") ? `${tool.source}/${tool.name ?? tool.wire_name}` : `${tool.source}:${tool.name ?? tool.wire_name}`],
      ["hands to", tool.target && (AGENT.has(tool.target) ? link(tool.target, () => showAgent(AGENT.get(tool.target))) : tool.target)],
      [family.kind === "server" ? "server" : "pack", family.id && link(family.title, () => belts.choose(agent, { family }))],
      ["needs", tool.permission],
      ["approval", why.approve && "a person approves each call"],
      ["tokens", number(tool.tokens)],
      ["written in", place(tool.where)],
    ]),
    h("h3", {}, "Rules, in the order they are asked"),
    stepsOf(why, entryOf(agent, tool)),
    leadsOf(why, tool, family),
    others(agent, row),
  );
}

const entryOf = (agent, tool) => {
  const own = tool.entry ?? tool.wire_name;
  return agent.imported ? (tool.imported_entry ?? own) : own;
};

/** Every question, in order; the first that does not let the tool pass settles it. */
function stepsOf(why, entry) {
  let settled = false;
  const items = why.steps.map((at) => {
    const step = DATA.steps[at];
    const passed = !step.answer;
    const answer = passed
      ? h("span", { class: "passed" }, "passed")
      : badge(step.answer, settled ? "also " : "");
    const said = passed
      ? [h("p", {}, inCode(step.passed ?? "")), step.because && h("p", { class: "by" }, step.because)]
      : (step.reasons ?? []).map((reason) => [h("p", {}, inCode(reason.detail)), ruleOf(reason)]);
    const mend = step.mend && h("p", { class: "mend" }, h("b", {}, "mend: "), inCode(step.mend.replaceAll(SELF, entry)));
    const item = h("li", { class: step.settles ? "settles" : passed ? "lets" : "also" }, h("div", { class: "question" }, step.question, answer), said, mend);
    settled = settled || Boolean(step.settles);
    return item;
  });
  return h("ol", { class: "steps" }, items);
}

const ruleOf = (reason) =>
  h("p", { class: "by", title: DATA.rules[reason.rule] }, `rule ${reason.rule}`, reason.where && [", ", place(reason.where)]);

/** How the work is done, or what cuts every way to it. */
function leadsOf(why, tool, family) {
  if (why.leads?.length) {
    const items = why.leads.map((lead) => {
      const name = tool?.wire_name ?? "its wire name";
      const call = lead.call ?? name;
      const opened = lead.call === DATA.opener;
      if (lead.via === "handoff") {
        const shown = opened ? `${call}(tool="${lead.tool}")` : call;
        const through = opened ? "opens the hand-off to" : "hands to";
        return h("li", {}, h("code", {}, shown), h("p", {}, `${through} ${lead.agents.join(" hands on to ")}, who can call it`));
      }
      const ways = {
        direct: [call, "by its name"],
        opener: [`${call}(pack="${family.id}", tool="${name}")`, "through the opener; without `tool` it lists the pack"],
        search: [`${call}(query=...)`, "by search, which shows its schema"],
      };
      const [shown, words] = ways[lead.via];
      return h("li", {}, h("code", {}, shown), h("p", {}, inCode(words)));
    });
    return [h("h3", {}, items.length > 1 ? "Routes, best first" : "Route"), h("ol", { class: "leads" }, items)];
  }
  if (why.cuts?.length) {
    const cuts = why.cuts.map((cut) => h("li", {}, inCode(cut.detail), ruleOf(cut)));
    return [h("h3", {}, "No route: every way in is cut"), h("ul", { class: "leads" }, cuts)];
  }
  if (CALLABLE.has(why.state)) return [];
  return [h("h3", {}, "No route"), h("p", {}, "Nothing that this agent can call leads to it.")];
}

/** The same tool for everyone else, by state. */
function others(agent, row) {
  const items = STATES.map((state, at) => {
    const alike = AGENTS.filter((one) => !one.refused && one !== agent && one.states_at[row] === at);
    if (!alike.length) return null;
    const names = alike.map((one) => link(one.name, () => belts.choose(one, { tool: row })));
    return h("li", {}, badge(state), h("span", { class: "names" }, names));
  });
  if (!items.some(Boolean)) return [];
  return [h("h3", {}, "For the other agents"), h("ul", { class: "others" }, items)];
}

function showFamily(agent, family) {
  belts.chosen = { agent, family };
  remember();
  const groups = new Map();
  for (const row of family.rows) {
    const rows = groups.get(agent.why[row]) ?? [];
    rows.push(row);
    groups.set(agent.why[row], rows);
  }
  const sorted = [...groups].sort(([a], [b]) => stateAt(a) - stateAt(b));
  panel.show(
    named(family.title),
    h("p", { class: "verdict" }, `${several(family.count, "tool")} for `, named(agent.name), groups.size > 1 ? ", in groups that the same rules decide." : family.count ? ", all by the same rules." : "."),
    family.summary && h("p", { class: "description" }, family.summary),
    facts([
      ["status", family.status],
      ["exposure", family.exposure],
      ["access", family.access],
      ["owners", family.owners?.join(", ")],
      ["carriers", family.carriers?.join(", ")],
      ["written in", place(family.where)],
    ]),
    sorted.map(([number_, rows], at) => groupOf(agent, family, DATA.explanations[number_], rows, at < 3)),
  );
}

const stateAt = (explanation) => PLACE_OF.get(DATA.explanations[explanation].state);

function groupOf(agent, family, why, rows, open) {
  const shown = 24;
  const names = rows.slice(0, shown).map((row) => link(TOOLS[row].wire_name, () => belts.choose(agent, { tool: row })));
  const left = rows.length - shown;
  const tool = rows.length === 1 ? TOOLS[rows[0]] : null;
  const entry = tool ? entryOf(agent, tool) : "its entry";
  return h(
    "details",
    { class: "group", open },
    h("summary", {}, badge(why.state), ` ${several(rows.length, "tool")}`, why.approve && ", a person approves each call"),
    h("p", { class: "names" }, names, left > 0 && ` and ${number(left)} more`),
    stepsOf(why, entry),
    leadsOf(why, tool, family),
  );
}

function showAgent(agent) {
  const away = FAMILIES.map((family) => {
    const rows = family.rows.filter((row) => STATES[agent.states_at[row]] === "packed");
    return { family, rows, tokens: rows.reduce((sum, row) => sum + TOOLS[row].tokens, 0) };
  }).filter((one) => !agent.refused && one.rows.length);
  const out = DATA.links.filter((one) => one.source === agent.name);
  const back = DATA.links.filter((one) => one.target === agent.name);
  const states = Object.entries(agent.states ?? {}).sort(([a], [b]) => PLACE_OF.get(a) - PLACE_OF.get(b));
  panel.show(
    named(agent.name),
    agent.refused
      ? h("p", { class: "verdict" }, h("span", { class: "badge is-refused" }, glyph("refused"), "refused"), " It cannot start:")
      : h("p", { class: "states" }, states.map(([state, count]) => h("span", { class: `badge is-${state}` }, glyph(state), `${number(count)} ${state}`))),
    (agent.refused ?? []).map(findingOf),
    agent.description && h("p", { class: "description" }, agent.description),
    facts([
      ["way from the root", farOff(agent)],
      ["hand-off", agent.handoff && agent.name !== DATA.orchestrator && h("code", {}, agent.handoff)],
      ["tokens", agent.tokens && `${number(agent.tokens.total)}; with nothing put away ${number(agent.tokens.total_if_unpacked)}`],
      ["way to what is put away", agent.ways_in?.length && h("code", {}, agent.ways_in.join(", "))],
      ["written in", place(agent.where)],
    ]),
    h(
      "p",
      { class: "actions" },
      agent.prompt && h("button", { type: "button", onclick: () => go("prompts", agent.name) }, "Its prompt"),
      h("button", { type: "button", onclick: () => only(agent) }, "Only this column"),
    ),
    away.length > 0 && [
      h("h3", {}, "Put away"),
      h("table", { class: "small" }, away.map(({ family, rows, tokens }) =>
        h("tr", {}, h("th", { scope: "row" }, link(family.title, () => belts.choose(agent, { family }))), h("td", {}, several(rows.length, "tool")), h("td", {}, several(tokens, "token"))),
      )),
    ],
    linksOf("Hands to", out, "target"),
    linksOf("Is handed requests by", back, "source"),
    (agent.diagnostics ?? []).length > 0 && [h("h3", {}, "Remarks"), agent.diagnostics.map(findingOf)],
  );
}

function farOff(agent) {
  if (agent.name === DATA.orchestrator) return "it is the root agent";
  if (agent.depth === null) return "none: no hand-off from the root agent leads to it";
  return several(agent.depth, "hand-off");
}

function linksOf(title, links, end) {
  if (!links.length) return [];
  const items = links.map((one) =>
    h("li", {}, badge(one.state), " ", AGENT.has(one[end]) ? link(one[end], () => showAgent(AGENT.get(one[end]))) : one[end], " by ", h("code", {}, one.tool)),
  );
  return [h("h3", {}, title), h("ul", { class: "links" }, items)];
}
