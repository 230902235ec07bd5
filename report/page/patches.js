// The chosen repair as a patch of the user's own files, which the fault was captured from.

class PatchesView {
  constructor() {
    const {patches, script} = report;
    this.section = addSection("patches", "As a patch of the script");
    this.chosen = html("div");
    const made = Object.keys(patches.repairs).length;
    this.section.append(html("p", {class: "help"},
        `The program was captured from ${script.file}, in ${script.folder}, with ${script.framework}. ` +
        (patches.refusal ? `Patches weren't made: ${patches.refusal}. The lines of each change are in the list of programs.`
          : made ? `${plural(made, "repair")} as changes of these files: choose one.` : "There is no repair yet.")), this.chosen);
    const [first] = report.network.nodes.filter(node => own(patches.repairs, String(node.id)))
        .map(node => programs.get(node.id)).sort(bySize);
    this.show(first);
  }

  show(program) {
    const patch = program && own(report.patches.repairs, String(program.id));
    if (!patch) return;  // the last one stays
    const id = program.id, list = (name, items) => items.length
        ? [html("h4", {}, name), html("ul", {class: "help"}, items.map(item => html("li", {}, item)))] : [];
    this.chosen.replaceChildren(html("h3", {}, `Program ${id}: ${program.changeText}`),
      patch.diff.length ? diffBlock(patch.diff, `Patch of program ${id}`) : "",
      patch.diff.length ? html("p", {class: "tools"}, html("button", {type: "button",
        title: `Download; patch -p1 reads it in ${report.script.folder}`,
        onclick: () => download(patch.diff.join("\n") + "\n", "text/x-diff", fileName(`patch_${id}.diff`))}, `patch_${id}.diff`)) : "",
      patch.arguments ? html("p", {}, "Run it with: ", html("code", {}, patch.arguments.join(" "))) : "",
      ...list("Not in the patch", patch.refused), ...list("To know", patch.notes));
  }
}
