"use strict";
// What the page knows: the JSON of `packbelt report --json`, and what is counted from it. Nothing is decided here.

const DATA = JSON.parse(document.getElementById("data").textContent);
const SELF = "\ue000"; // stands in a mend for the entry that would grant the tool
const STATES = DATA.states.map((one) => one.state);
const PLACE_OF = new Map(STATES.map((state, place) => [state, place]));
const CALLABLE = new Set(DATA.states.filter((one) => one.callable).map((one) => one.state));
const SAYS = new Map(DATA.states.map((one) => [one.state, one.says]));
const AGENTS = DATA.agents;
const AGENT = new Map(AGENTS.map((agent) => [agent.name, agent]));
const TOOLS = DATA.tools;
const FAMILIES = DATA.families;
const FAMILY_OF = [];

for (const family of FAMILIES) {
  for (let k = 0; k < family.count; k += 1) FAMILY_OF.push(family);
  family.title = family.id || "no pack";
  family.rows = Array.from({ length: family.count }, (_, k) => family.first + k);
  family.hay = `${family.title} ${family.kind} ${family.summary ?? ""}`.toLowerCase();
}
TOOLS.forEach((tool, row) => {
  const family = FAMILY_OF[row];
  const words = [tool.wire_name, tool.name ?? "", tool.source, tool.target ?? "", tool.description ?? "", family.title];
  tool.hay = words.join(" ").toLowerCase();
});
for (const agent of AGENTS) {
  agent.why = new Uint32Array(TOOLS.length); // the explanation of each tool
  agent.states_at = new Uint8Array(TOOLS.length); // its state, as a place in STATES
  let row = 0;
  for (const [count, explanation] of agent.rows ?? []) {
    agent.why.fill(explanation, row, row + count);
    agent.states_at.fill(PLACE_OF.get(DATA.explanations[explanation].state), row, row + count);
    row += count;
  }
}

/** How many of some tools an agent has in each state, by place in STATES. */
function countStates(agent, rows) {
  const counts = new Array(STATES.length).fill(0);
  for (const row of rows) counts[agent.states_at[row]] += 1;
  return counts;
}

/** The words of a query: `agent:x` narrows the columns, everything else is looked for in the view. */
function readQuery(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const named = words.filter((word) => word.startsWith("agent:")).map((word) => word.slice(6)).filter(Boolean);
  return { words: words.filter((word) => !word.startsWith("agent:")), agents: named };
}

const has = (hay, words) => words.every((word) => hay.includes(word));
const agentsFor = (query) =>
  AGENTS.filter((agent) => !query.agents.length || query.agents.some((part) => agent.name.toLowerCase().includes(part)));
