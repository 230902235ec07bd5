// The known fix, and the chosen repair, as changes of the buggy program's Keras script.

/** A difference in the unified form, its lines marked by sign and colour. */
function diffBlock(lines, label) {
  const kinds = {"+": "added", "-": "removed", "@": "place"};
  return html("pre", {class: "diff", tabindex: "0", role: "region", "aria-label": label}, html("code", {}, lines.map((line, i) =>
    html("span", {class: i < 2 ? "names" : kinds[line[0]] ?? null}, line, "\n"))));
}

class ScriptsView {
  constructor() {
    const {scripts} = report;
    this.section = addSection("scripts", "As Keras scripts");
    this.chosen = html("div");
    this.section.append(html("div", {class: "figures"}, html("div", {},
        html("h3", {}, "Known fix"),
        scripts.refusal ? html("p", {class: "help"}, `No script does the same: ${scripts.refusal}.`) : null,
        scripts.fix === null ? null : scripts.fix.length ? diffBlock(scripts.fix, "Difference of the known fix")
          : html("p", {class: "help"}, "Both scripts are the same: the known fix changes the data or how they are prepared."),
        scripts.fix?.length ? this.buttons(scripts.fix, "fix.diff") : null),
      this.chosen));
    if (scripts.buggy) {
      this.section.append(html("details", {}, html("summary", {}, "Script of the buggy program"),
          html("pre", {class: "diff"}, html("code", {}, scripts.buggy.join("\n"))),
          html("p", {class: "tools"}, html("button", {type: "button", onclick: () => download(scripts.buggy.join("\n") + "\n", "text/x-python", fileName("buggy.py"))}, "buggy.py"))));
    }
  }

  buttons(lines, name) {
    return html("p", {class: "tools"}, html("button", {type: "button", title: "Download; patch -p0 reads it",
      onclick: () => download(lines.join("\n") + "\n", "text/x-diff", fileName(name))}, name));
  }

  /** Beside the known fix: the program that is chosen. */
  show(program) {
    const lines = program && own(report.scripts.repairs, String(program.id));
    this.chosen.hidden = !lines;  // the known fix then has its room
    this.chosen.replaceChildren(...(lines ? [html("h3", {}, `Program ${program.id}`),
      lines.length ? diffBlock(lines, `Difference of program ${program.id}`) : html("p", {class: "help"}, "Its script is that of the buggy program."),
      lines.length ? this.buttons(lines, `program_${program.id}.diff`) : ""] : []));
  }
}
