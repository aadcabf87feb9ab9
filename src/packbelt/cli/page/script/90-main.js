// The frame: title, search, views, scheme of colours, keys, and the address that remembers what is shown.

const VIEWS = { belts, handoffs, cost, findings, prompts };
const SCHEMES = ["system", "light", "dark"];
const app = { view: "belts", scheme: "system", asked: {} }; // what is asked, of each view

function redraw() {
  const query = readQuery(app.asked[app.view] ?? "");
  const view = document.getElementById("view");
  const now = VIEWS[app.view];
  const field = document.getElementById("search");
  if (document.activeElement !== field) field.value = app.asked[app.view] ?? "";
  field.placeholder = now.asks;
  view.replaceChildren();
  view.className = `view-${app.view}`;
  view.setAttribute("aria-labelledby", `tab-${app.view}`);
  document.getElementById("controls").replaceChildren(now.controls());
  document.getElementById("count").textContent = now.draw(view, query);
  for (const key of Object.keys(VIEWS)) {
    const tab = document.getElementById(`tab-${key}`);
    tab.setAttribute("aria-selected", String(key === app.view));
    tab.tabIndex = key === app.view ? 0 : -1;
  }
}

/** Another view; for prompts with an agent. */
function go(view, agent) {
  app.view = view;
  if (view === "prompts" && agent) prompts.agent = agent;
  redraw();
  remember();
  if (agent) document.querySelector(".names-list [aria-current]")?.focus();
}

/** Narrows the columns to one agent. */
function only(agent) {
  app.asked.belts = `agent:${agent.name.toLowerCase()}`;
  go("belts");
}

// the address: #view, #belts/agent/tool, #belts/agent//family, #prompts/agent ----------------------------------

function remember() {
  const parts = [app.view];
  if (app.view === "prompts" && prompts.agent) parts.push(prompts.agent);
  if (app.view === "belts" && belts.chosen) {
    const { agent, tool, family } = belts.chosen;
    parts.push(agent.name, ...(family ? ["", family.id] : [TOOLS[tool].wire_name]));
  }
  try {
    history.replaceState(null, "", `#${parts.map(encodeURIComponent).join("/")}`);
  } catch {
    // a page that stands in a frame may have no address of its own
  }
}

function recall() {
  let parts;
  try {
    parts = location.hash.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return;
  }
  const [view, name, tool, id] = parts;
  if (!Object.hasOwn(VIEWS, view)) return;
  app.view = view;
  const agent = AGENT.get(name);
  if (view === "prompts" && agent) prompts.agent = name;
  redraw();
  if (view !== "belts" || !agent || agent.refused) return;
  const row = TOOLS.findIndex((one) => one.wire_name === tool);
  const family = FAMILIES.find((one) => one.id === id);
  if (tool && row >= 0) {
    belts.open.add(FAMILY_OF[row]);
    redraw();
    belts.choose(agent, { tool: row });
  } else if (!tool && family) belts.choose(agent, { family });
}

// light and dark ----------------------------------------------------------------------------------------------

function setScheme(scheme) {
  app.scheme = scheme;
  if (scheme === "system") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme;
  document.getElementById("scheme").textContent = `colours: ${scheme}`;
  try {
    localStorage.setItem("packbelt-report-scheme", scheme);
  } catch {
    // a page from a file may have no storage
  }
}

function lastScheme() {
  try {
    const kept = localStorage.getItem("packbelt-report-scheme");
    return SCHEMES.includes(kept) ? kept : "system";
  } catch {
    return "system";
  }
}

// the frame ---------------------------------------------------------------------------------------------------

function head() {
  const where = DATA.workspace === null ? "packbelt's own workspace" : `workspace ${DATA.workspace}`;
  const now = DATA.snapshot === null ? "no snapshot" : `snapshot ${DATA.snapshot}`;
  const packs = FAMILIES.filter((one) => one.kind === "pack").length;
  const servers = FAMILIES.filter((one) => one.kind === "server").length;
  const counts = [several(AGENTS.length, "agent"), several(packs, "pack"), servers && several(servers, "server"), several(TOOLS.length, "tool")];
  return h(
    "div",
    { class: "title" },
    h("h1", {}, "packbelt report"),
    h("p", {}, h("bdi", {}, where), ", ", h("bdi", {}, now), h("span", { class: "counts" }, counts.filter(Boolean).join(" · "))),
  );
}

function searchBox() {
  const field = h("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false", "aria-label": "Search this view; agent:name narrows to agents", "aria-describedby": "count", "aria-keyshortcuts": "/" });
  let waiting = 0;
  const asked = () => {
    app.asked[app.view] = field.value;
    belts.closed.clear();
    belts.more.clear();
    redraw();
  };
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(asked, 60);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && field.value) {
      event.preventDefault();
      event.stopPropagation();
      field.value = "";
      clearTimeout(waiting);
      asked();
    } else if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      clearTimeout(waiting);
      if ((app.asked[app.view] ?? "") !== field.value) asked();
      if (app.view === "belts" && belts.table.tBodies[0].rows.length) belts.go(1, 0);
      else document.querySelector("#view [tabindex='0'], #view button, #view summary")?.focus();
    }
  });
  return h("div", { class: "search" }, field, h("kbd", { "aria-hidden": "true" }, "/"), h("span", { id: "count", role: "status" }));
}

function tabs() {
  const keys = Object.keys(VIEWS);
  const levels = LEVELS.slice(0, 2).map((one) => DATA.findings.filter((found) => found.level === one).length);
  const serious = levels[0] + levels[1];
  const list = h(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "Views" },
    keys.map((key) => h("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": "view", onclick: () => go(key) }, VIEWS[key].title, key === "findings" && serious > 0 && h("small", { class: levels[0] ? "is-error" : "is-warning" }, number(serious)))),
  );
  list.addEventListener("keydown", (event) => {
    const at = keys.indexOf(app.view);
    const next = { ArrowRight: keys[(at + 1) % keys.length], ArrowLeft: keys[(at + keys.length - 1) % keys.length], Home: keys[0], End: keys.at(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    go(next);
    document.getElementById(`tab-${next}`).focus();
  });
  return list;
}

function start() {
  const scheme = h("button", { type: "button", id: "scheme", title: "Light, dark, or as the system says", onclick: () => setScheme(SCHEMES[(SCHEMES.indexOf(app.scheme) + 1) % SCHEMES.length]) });
  panel.element = h("aside", { id: "panel", "aria-labelledby": "panel-title", hidden: true });
  document.getElementById("app").append(
    shapes(),
    h("header", {}, head(), searchBox(), scheme),
    h("nav", {}, tabs()),
    h("div", { id: "controls" }),
    h("div", { class: "stage" }, h("main", { id: "view", role: "tabpanel", tabindex: "-1" }), panel.element),
  );
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("view").focus();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      document.getElementById("search").select();
      document.getElementById("search").focus();
    } else if (event.key === "Escape") panel.hide();
  });
  addEventListener("hashchange", recall);
  setScheme(lastScheme());
  redraw();
  recall();
}

start();
