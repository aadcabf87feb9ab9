// Prompts: what each agent is told, its own words and packbelt's sections told apart.

const prompts = {
  title: "Prompts",
  asks: "Search prompts…",
  agent: null,

  draw(view, query) {
    const told = agentsFor(query).filter((agent) => agent.prompt);
    const fits = told.filter((agent) => has(`${agent.name} ${agent.prompt.map((piece) => piece.text).join(" ")}`.toLowerCase(), query.words));
    const shown = fits.find((agent) => agent.name === prompts.agent) ?? fits[0];
    if (!shown) {
      view.append(h("p", { class: "empty" }, "No prompt fits."));
      return "0 prompts";
    }
    const items = fits.map((agent) => h("li", {}, h("button", { type: "button", "aria-current": agent === shown ? "true" : undefined, onclick: () => prompts.choose(agent) }, named(agent.name))));
    const list = h("ul", { class: "names-list", "aria-label": "Agents" }, items);
    list.addEventListener("keydown", prompts.keyed);
    view.append(h("div", { class: "prompts" }, list, prompts.text(shown, query.words)));
    return several(fits.length, "prompt");
  },

  controls: () => h("div", { class: "legend" }, h("span", { class: "state" }, h("span", { class: "swatch own" }), "the agent's own words"), h("span", { class: "state" }, h("span", { class: "swatch section" }), "a section that packbelt writes from the belt")),

  text(agent, words) {
    const lines = agent.tokens.section_lines;
    const pieces = agent.prompt.map((piece) =>
      piece.section
        ? h("section", { "aria-label": `section ${piece.section}` }, h("h3", {}, piece.section, h("small", {}, several(lines[piece.section] ?? 0, "token"))), h("pre", {}, marked(piece.text.trim(), words)))
        : piece.text.trim() && h("pre", {}, marked(piece.text.trim(), words)),
    );
    return h("article", { tabindex: "0", "aria-label": `Prompt of ${agent.name}` }, h("h2", {}, link(agent.name, () => showAgent(agent))), pieces);
  },

  choose(agent) {
    prompts.agent = agent.name;
    redraw();
    remember();
    document.querySelector(".names-list [aria-current]").focus();
  },

  keyed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll("button")];
    buttons[buttons.indexOf(document.activeElement) + step]?.click();
  },
};

/** A text with the words of the search marked. */
function marked(text, words) {
  if (!words.length) return text;
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  return text.split(pattern).map((part, k) => (k % 2 ? h("mark", {}, part) : part));
}
