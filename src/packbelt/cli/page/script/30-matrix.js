// Belts: packs and servers as rows that open to their tools, agents as columns, a state in each cell.

const CELLS = 3000; // cells of tools that are drawn at once; the rest waits behind "show more"

const SIDE = matchMedia("(max-width: 960px)").matches ? 200 : 320; // widths in pixels, as the style has them
const COLUMN = 46;

const belts = {
  title: "Belts",
  asks: "Search tools, packs, servers… agent:name",
  open: new Set(), // families that somebody opened
  closed: new Set(), // families that somebody closed although the search opened them
  more: new Map(), // rows of a family that are drawn beyond the first
  states: new Set(), // states that rows must have; empty for all
  at: { row: 0, cell: 0 },
  chosen: null,

  draw(view, query) {
    const columns = agentsFor(query);
    const found = belts.search(query, columns);
    const table = h("table", { class: "matrix", role: "treegrid", "aria-label": "State of each tool for each agent" });
    table.append(belts.head(columns), belts.body(found, columns));
    table.addEventListener("click", belts.clicked);
    table.addEventListener("keydown", belts.keyed);
    table.addEventListener("mouseover", belts.hovered);
    table.style.width = `${SIDE + columns.length * COLUMN}px`;
    belts.columns = columns;
    belts.table = table;
    belts.frame = h("div", { class: "frame" }, table);
    if (!columns.length) view.append(h("p", { class: "empty" }, "No agent is called so."));
    else if (!found.length) view.append(h("p", { class: "empty" }, "No tool fits. Escape in the search shows all again."));
    else view.append(belts.frame);
    belts.settle();
    const tools = found.reduce((sum, one) => sum + one.rows.length, 0);
    return `${number(tools)} of ${several(TOOLS.length, "tool")}, ${several(columns.length, "agent")}`;
  },

  controls() {
    const counts = new Array(STATES.length).fill(0);
    for (const agent of AGENTS) {
      for (const [state, count] of Object.entries(agent.states ?? {})) counts[PLACE_OF.get(state)] += count;
    }
    const buttons = DATA.states.map(({ state, says }, at) =>
      h(
        "button",
        {
          type: "button",
          class: `state is-${state}`,
          "aria-pressed": String(belts.states.has(state)),
          title: `${says}. Shows only rows that have it.`,
          disabled: !counts[at],
          onclick: () => {
            if (!belts.states.delete(state)) belts.states.add(state);
            redraw();
            document.querySelector(`.legend .is-${state}`).focus();
          },
        },
        glyph(state),
        h("span", {}, state),
        h("small", {}, number(counts[at])),
      ),
    );
    const refused = AGENTS.some((agent) => agent.refused);
    return h(
      "div",
      { class: "legend", role: "group", "aria-label": "States; choose some to see only rows that have them" },
      buttons,
      refused && h("span", { class: "state is-refused" }, glyph("refused"), "cannot start"),
      h("span", { class: "callable" }, "A call of the first three is admitted."),
    );
  },

  search(query, columns) {
    const wanted = new Set([...belts.states].map((state) => PLACE_OF.get(state)));
    const starting = columns.filter((agent) => !agent.refused);
    const shows = (row) => !wanted.size || starting.some((agent) => wanted.has(agent.states_at[row]));
    const found = [];
    for (const family of FAMILIES) {
      const whole = has(family.hay, query.words);
      const rows = family.rows.filter((row) => (whole || has(TOOLS[row].hay, query.words)) && shows(row));
      if (rows.length || (whole && !family.count && !wanted.size)) found.push({ family, rows, whole });
    }
    return found;
  },

  head(columns) {
    const corner = h("th", { scope: "col", class: "corner" }, "pack or server", h("small", {}, "tools, tokens"));
    const cells = columns.map((agent) =>
      h(
        "th",
        {
          scope: "col",
          class: agent.refused ? "agent is-refused" : "agent",
          "data-agent": agent.name,
          "aria-label": `agent ${agent.name}${agent.refused ? ", cannot start" : ""}`,
          title: agent.description,
        },
        h("span", {}, agent.refused && glyph("refused"), named(agent.name)),
      ),
    );
    return h("thead", {}, h("tr", {}, corner, cells));
  },

  body(found, columns) {
    const body = h("tbody", {});
    let budget = Math.max(20, Math.floor(CELLS / columns.length));
    for (const { family, rows, whole } of found) {
      const sought = !whole && rows.length <= budget && !belts.closed.has(family);
      const opened = belts.open.has(family) || sought;
      body.append(belts.familyRow(family, rows, columns, opened));
      if (!opened) continue;
      const shown = rows.slice(0, Math.max(20, budget) + (belts.more.get(family) ?? 0));
      budget = Math.max(0, budget - shown.length);
      for (const row of shown) body.append(belts.toolRow(row, columns));
      if (shown.length < rows.length) body.append(belts.moreRow(family, rows.length - shown.length, columns.length));
    }
    return body;
  },

  familyRow(family, rows, columns, opened) {
    const all = rows.length === family.count;
    const tokens = rows.reduce((sum, row) => sum + TOOLS[row].tokens, 0);
    const count = all ? number(family.count) : `${number(rows.length)} of ${number(family.count)}`;
    const status = family.status && family.status !== "connected" && family.status;
    const head = h(
      "th",
      { scope: "row", title: family.summary },
      h("span", { class: "fold", "aria-hidden": "true" }, rows.length ? (opened ? "▾" : "▸") : ""),
      h(
        "span",
        { class: "label" },
        h("span", { class: "line" }, named(family.title), status && h("em", {}, status)),
        family.summary && h("small", {}, h("bdi", {}, family.summary)),
      ),
      h("span", { class: "figures" }, count, h("small", {}, number(tokens))),
    );
    const row = h(
      "tr",
      { class: "family", "aria-level": "1", "aria-expanded": rows.length ? String(opened) : undefined },
      head,
      columns.map((agent) => belts.familyCell(agent, rows)),
    );
    row.family = family;
    return row;
  },

  familyCell(agent, rows) {
    if (agent.refused) return h("td", { class: "refused", "aria-label": `${agent.name} cannot start` });
    const counts = countStates(agent, rows);
    const there = STATES.map((state, at) => [state, counts[at]]).filter(([, count]) => count);
    const words = there.map(([state, count]) => `${number(count)} ${state}`).join(", ") || "no tool";
    const parts = there.map(([state, count]) =>
      h("span", { class: "part" }, glyph(state), there.length > 1 && h("small", {}, number(count))),
    );
    return belts.cell(`${agent.name}: ${words}`, parts);
  },

  toolRow(row, columns) {
    const tool = TOOLS[row];
    const head = h(
      "th",
      { scope: "row", title: tool.description },
      h("span", { class: "label" }, named(tool.name && FAMILY_OF[row].kind === "server" ? tool.name : tool.wire_name)),
      h("span", { class: "figures" }, h("small", {}, number(tool.tokens))),
    );
    const cells = columns.map((agent) => {
      if (agent.refused) return h("td", { class: "refused", "aria-label": `${agent.name} cannot start` });
      const why = DATA.explanations[agent.why[row]];
      const words = `${agent.name}: ${why.state}${why.approve ? ", a person approves each call" : ""}`;
      return belts.cell(words, why.approve ? [glyph(why.state), h("small", {}, "*")] : [glyph(why.state)]);
    });
    const line = h("tr", { class: "tool", "aria-level": "2" }, head, cells);
    line.tool = row;
    return line;
  },

  /** A cell; there are thousands, so it is made without detours. */
  cell(label, parts) {
    const cell = document.createElement("td");
    cell.setAttribute("aria-label", label);
    cell.append(...parts);
    return cell;
  },

  /** What a cell is called also shows under the pointer. */
  hovered(event) {
    const cell = event.target.closest("td[aria-label]");
    if (cell && !cell.title) cell.title = cell.getAttribute("aria-label");
  },

  moreRow(family, left, columns) {
    const words = `show ${number(Math.min(left, 200))} of ${several(left, "more tool")} of ${family.title}`;
    const row = h("tr", { class: "more", "aria-level": "2" }, h("th", { scope: "row" }, words), h("td", { colspan: columns }));
    row.more = family;
    return row;
  },

  // one cell has the keyboard; arrows hand it on -------------------------------------------------------------

  settle() {
    const { table, at } = belts;
    if (!table.rows.length) return;
    at.row = Math.min(at.row, table.rows.length - 1);
    at.cell = Math.min(at.cell, table.rows[at.row].cells.length - 1);
    table.rows[at.row].cells[at.cell].tabIndex = 0;
    belts.mark();
  },

  go(row, cell) {
    const { table, at } = belts;
    table.rows[at.row]?.cells[at.cell]?.removeAttribute("tabindex");
    at.row = Math.max(0, Math.min(row, table.rows.length - 1));
    at.cell = Math.max(0, Math.min(cell, table.rows[at.row].cells.length - 1));
    const target = table.rows[at.row].cells[at.cell];
    target.tabIndex = 0;
    target.focus({ preventScroll: true });
    belts.reveal(target);
  },

  /** Scrolls a cell out from under the sticky head and the sticky first column. */
  reveal(cell) {
    const { frame, table } = belts;
    const head = table.tHead.getBoundingClientRect().height;
    const side = table.rows[0].cells[0].getBoundingClientRect().width;
    const box = cell.getBoundingClientRect();
    const around = frame.getBoundingClientRect();
    if (cell.closest("tbody")) {
      if (box.top < around.top + head) frame.scrollTop -= around.top + head - box.top;
      else if (box.bottom > around.bottom - 16) frame.scrollTop += box.bottom - around.bottom + 16;
    }
    if (cell.cellIndex > 0) {
      if (box.left < around.left + side) frame.scrollLeft -= around.left + side - box.left;
      else if (box.right > around.right - 16) frame.scrollLeft += box.right - around.right + 16;
    }
  },

  keyed(event) {
    const { row, cell } = belts.at;
    const last = belts.table.rows.length - 1;
    const here = belts.table.rows[row];
    const folded = here.getAttribute("aria-expanded");
    const moves = {
      ArrowUp: () => belts.go(row - 1, cell),
      ArrowDown: () => belts.go(row + 1, cell),
      ArrowLeft: () => (cell === 0 && folded === "true" ? belts.toggle(here.family) : belts.go(row, cell - 1)),
      ArrowRight: () => (cell === 0 && folded === "false" ? belts.toggle(here.family) : belts.go(row, cell + 1)),
      Home: () => belts.go(event.ctrlKey ? 0 : row, 0),
      End: () => belts.go(event.ctrlKey ? last : row, Number.MAX_SAFE_INTEGER),
      PageUp: () => belts.go(row - 10, cell),
      PageDown: () => belts.go(row + 10, cell),
      Enter: () => belts.act(here, cell),
      " ": () => belts.act(here, cell),
    };
    if (!moves[event.key] || event.altKey || event.metaKey) return;
    event.preventDefault();
    moves[event.key]();
  },

  clicked(event) {
    const cell = event.target.closest("th, td");
    if (!cell) return;
    belts.go(cell.parentElement.rowIndex, cell.cellIndex);
    belts.act(cell.parentElement, cell.cellIndex);
  },

  act(row, cell) {
    const agent = belts.columns[cell - 1];
    if (row.more) {
      belts.more.set(row.more, (belts.more.get(row.more) ?? 0) + 200);
      belts.again();
    } else if (row.rowIndex === 0) {
      if (agent) showAgent(agent);
    } else if (cell === 0 && row.family) belts.toggle(row.family);
    else if (row.family && agent.refused) showAgent(agent);
    else if (row.family) belts.choose(agent, { family: row.family });
    else if (cell === 0) belts.choose(belts.columns.find((one) => !one.refused) ?? agent, { tool: row.tool });
    else if (agent.refused) showAgent(agent);
    else belts.choose(agent, { tool: row.tool });
  },

  toggle(family) {
    const line = [...belts.table.tBodies[0].rows].find((row) => row.family === family);
    if (!family.count) return;
    if (line.getAttribute("aria-expanded") === "true") {
      belts.open.delete(family);
      belts.closed.add(family);
    } else {
      belts.open.add(family);
      belts.closed.delete(family);
    }
    belts.again();
  },

  /** Draws anew and leaves keyboard and scroll where they are. */
  again() {
    const { scrollTop, scrollLeft } = belts.frame;
    redraw();
    belts.frame.scrollTop = scrollTop;
    belts.frame.scrollLeft = scrollLeft;
    belts.go(belts.at.row, belts.at.cell);
  },

  choose(agent, what) {
    belts.chosen = { agent, ...what };
    belts.mark();
    if (what.family) showFamily(agent, what.family);
    else showTool(agent, what.tool);
  },

  /** Marks the cell that the panel speaks of. */
  mark() {
    for (const old of belts.table?.querySelectorAll("[aria-selected]") ?? []) old.removeAttribute("aria-selected");
    if (!belts.chosen || !belts.table) return;
    const { agent, family, tool } = belts.chosen;
    const column = belts.columns.indexOf(agent);
    const row = [...(belts.table.tBodies[0]?.rows ?? [])].find((one) => (family ? one.family === family : one.tool === tool));
    if (row && column >= 0) row.cells[column + 1].setAttribute("aria-selected", "true");
  },
};
