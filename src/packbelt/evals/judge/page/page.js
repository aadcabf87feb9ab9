"use strict";
{
  const { cells, belts } = JSON.parse(document.getElementById("traces").textContent);
  const byId = (id) => document.getElementById(id);

  // Everything that a model or a tool said is put in as text, never as markup.
  const make = (tag, text, style) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (style) node.className = style;
    return node;
  };

  const callNode = (call) => {
    const node = make("div", undefined, call.refused ? "call refused" : "call");
    const head = make("div");
    head.append(make("code", call.name), " ", make("span", call.ended, call.refused ? "bad" : "dim"));
    if (call.tool && !call.tool.endsWith(`:${call.name}`)) head.append(" ", make("span", call.tool, "dim"));
    node.append(head, make("pre", call.arguments), make("pre", call.answer));
    return node;
  };

  const replyNode = (reply, number) => {
    const node = make("div");
    const belt = belts[reply.belt];
    const shown = make("details");
    const words = [`Reply ${number}`, `${belt.length} tools shown`];
    if (reply.tokens) words.push(`${reply.tokens[0]} + ${reply.tokens[1]} tokens, ${reply.tokens[2]} cached`);
    shown.append(make("summary", words.join(" · ")), make("p", belt.join(", "), "dim"));
    node.append(shown);
    if (reply.text) node.append(make("pre", reply.text));
    node.append(...reply.calls.map(callNode));
    return node;
  };

  const playNode = (play, number, count) => {
    const node = make("div", undefined, "play");
    const head = make("p");
    if (count > 1) head.append(make("strong", `Play ${number} of ${count}: `));
    head.append(make("strong", play.result, play.passed ? "good" : "bad"), ` ${play.meaning} `);
    head.append(make("span", `${play.seconds} s`, "dim"));
    node.append(head);
    if (play.error) node.append(make("pre", play.error));
    node.append(...play.replies.map((reply, i) => replyNode(reply, i + 1)));
    return node;
  };

  const dialog = byId("trace");
  const open = (index) => {
    const cell = cells[index];
    byId("trace-title").textContent = `${cell.case}: ${cell.condition}`;
    const body = byId("trace-body");
    const asked = make("p");
    asked.append(make("span", `${cell.agent} is asked: `, "dim"), cell.request);
    const wanted = make("p");
    wanted.append(make("span", "expected: ", "dim"), cell.expected.join(", then ") || "no call");
    body.replaceChildren(asked, wanted, ...cell.plays.map((play, i) => playNode(play, i + 1, cell.plays.length)));
    dialog.showModal();
    dialog.scrollTop = 0;
  };
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  const grid = byId("grid");
  grid.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-cell]");
    if (button) open(Number(button.dataset.cell));
  });
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  grid.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    const at = event.target.closest("td");
    if (!step || !at) return;
    const rows = [...grid.tBodies[0].rows].filter((row) => !row.hidden);
    let row = rows.indexOf(at.parentElement);
    let column = at.cellIndex;
    for (;;) {
      row += step[0];
      column += step[1];
      const cell = rows[row]?.cells[column];
      if (!cell || column < 1) return;
      const button = cell.querySelector("button");
      if (button) { event.preventDefault(); button.focus(); return; }
    }
  });

  const filter = () => {
    const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of grid.tBodies[0].rows) {
      const found = words.every((word) => row.dataset.words.includes(word));
      const missed = !byId("missed").checked || row.querySelector("button:not(.good)");
      const differs = !byId("differs").checked || row.dataset.differs === "1";
      row.hidden = !(found && missed && differs);
      shown += !row.hidden;
    }
    byId("shown").textContent = `${shown} of ${grid.tBodies[0].rows.length}`;
  };
  for (const id of ["find", "missed", "differs"]) byId(id).addEventListener("input", filter);
  filter();

  const matrices = document.querySelectorAll("[data-matrix]");
  const choose = () => {
    for (const one of matrices) {
      const here = one.dataset.matrix === byId("matrix").value && one.dataset.choice === byId("choice").value;
      one.hidden = !here;
    }
  };
  for (const id of ["matrix", "choice"]) byId(id).addEventListener("change", choose);
  choose();

  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
}
