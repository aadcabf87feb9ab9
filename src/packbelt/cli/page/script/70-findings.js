// Diagnostics: what `packbelt check` finds, by level and code.

const LEVELS = ["error", "warning", "note"];
const MARKS = { error: "✕", warning: "!", note: "i" };

const findings = {
  title: "Diagnostics",
  asks: "Search messages, codes, files…",
  levels: new Set(),
  more: new Map(),

  draw(view, query) {
    const words = [...query.words, ...query.agents];
    const found = DATA.findings.filter((one) => (!findings.levels.size || findings.levels.has(one.level)) && has(`${one.code} ${one.message} ${one.where ?? ""} ${one.mend}`.toLowerCase(), words));
    const groups = new Map();
    for (const one of found) {
      const key = `${one.level} ${one.code}`;
      groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    if (!found.length) view.append(h("p", { class: "empty" }, DATA.findings.length ? "No diagnostic fits." : "Nothing is wrong, and nothing is remarkable."));
    for (const [key, group] of groups) {
      const shown = group.slice(0, findings.more.get(key) ?? 25);
      const left = group.length - shown.length;
      const more = () => {
        findings.more.set(key, shown.length + 200);
        redraw();
      };
      view.append(
        h(
          "details",
          { class: "findings", open: groups.size < 8 || group[0].level !== "note" },
          h("summary", {}, level(group[0].level), h("code", {}, group[0].code), h("span", { class: "count" }, number(group.length))),
          shown.map(findingOf),
          left > 0 && h("button", { type: "button", onclick: more }, `show ${number(Math.min(200, left))} of ${number(left)} more`),
        ),
      );
    }
    return several(found.length, "diagnostic");
  },

  controls() {
    const buttons = LEVELS.map((one) => {
      const count = DATA.findings.filter((found) => found.level === one).length;
      const toggle = () => {
        if (!findings.levels.delete(one)) findings.levels.add(one);
        redraw();
        document.querySelector(`.legend .level-${one}`).focus();
      };
      return h("button", { type: "button", class: `state level-${one}`, "aria-pressed": String(findings.levels.has(one)), disabled: !count, onclick: toggle }, level(one), h("small", {}, number(count)));
    });
    return h("div", { class: "legend", role: "group", "aria-label": "Levels; choose some to see only these" }, buttons);
  },
};

const level = (one) => h("span", { class: `level is-${one}` }, h("b", { "aria-hidden": "true" }, MARKS[one]), one);

function findingOf(one) {
  return h("div", { class: `finding is-${one.level}` }, one.where && h("p", { class: "by" }, place(one.where)), h("p", {}, level(one.level), inCode(one.message)), one.mend && h("p", { class: "mend" }, h("b", {}, "mend: "), inCode(one.mend)));
}
