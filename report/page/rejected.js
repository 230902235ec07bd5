// The programs that were evaluated and are not in the network: what they were, and why not.

class RejectedView {
  constructor() {
    const {reasons, waiting, undecided} = report.evaluated;
    this.section = addSection("rejected", "Rejected programs", "scores");
    this.reasons = new Set();
    this.text = html("input", {type: "search", id: "rejected-search", placeholder: "lr, softmax, 12", autocomplete: "off", spellcheck: "false",
                               oninput: () => this.show()});
    this.count = html("output", {"aria-live": "polite"});
    const place = html("div", {class: "scroll", id: "rejected-table"});
    this.section.append(
        html("p", {class: "help"}, `${rejected.length} of the ${report.evaluated.evaluations} programs that were evaluated are not in the network.`,
             waiting ? ` ${plural(waiting, "program")} more ${waiting === 1 ? "was" : "were"} generated, but ${report.finished ? `the search ended before ${waiting === 1 ? "its" : "their"} turn` : `${waiting === 1 ? "its" : "their"} turn has not come yet`}.` : "",
             undecided ? ` ${plural(undecided, "program")} more ${undecided === 1 ? "waits" : "wait"} for the best of their parent.` : "",
             " A double click or Enter goes to the program that one came from."),
        html("form", {class: "filters", role: "search", "aria-label": "Filter of the rejected programs", onsubmit: event => event.preventDefault()},
             html("label", {class: "field"}, "Find ", this.text),
             html("fieldset", {class: "chips", id: "reason-filter"}, html("legend", {}, "Why"), Object.entries(REASONS).filter(([name]) => reasons[name]).map(([name, {name: text, one}]) =>
               html("button", {type: "button", "aria-pressed": "false", title: one, "data-reason": name, onclick: event => {
                 if (!this.reasons.delete(name)) this.reasons.add(name);
                 event.currentTarget.setAttribute("aria-pressed", String(this.reasons.has(name)));
                 this.show();
               }}, text, html("small", {}, ` ${reasons[name]}`)))),
             html("p", {class: "filter-state"}, this.count)),
        place, html("p", {class: "tools"}, csvButtons("rejected")));
    const order = Object.keys(REASONS);
    this.table = new ProgramTable(place, [
      {name: "Id", number: true, first: true, of: program => program.id, show: program => String(program.id)},
      {name: "From", number: true, title: "the program that it was made from, by one change", of: program => program.parent, show: program => String(program.parent)},
      {name: network.metric, number: true, title: `mean of the trainings that it has, the best first: ${DIRECTION}`, order: (a, b) => better(a.value, b.value),
       show: program => program.value === null ? "-" : shown(program.value)},
      {name: "Trainings", number: true, title: "those that were done", of: program => program.metrics.length, show: program => String(program.metrics.length)},
      {name: "Change", of: program => linkText(program), show: program => linkText(program)},
      {name: "Why", of: program => order.indexOf(program.reason),
       show: program => [REASONS[program.reason].name, program.detail ? html("div", {class: "help"}, program.detail) : null]},
      {name: "Change from the buggy program", of: program => program.changeText, show: program => program.changeText},
    ], (program, enter) => {
      this.table.mark(program);
      byName("announcement").textContent = [...outcomeLines(program), REASONS[program.reason].one].join("; ");
      if (enter) select(programs.get(program.parent), true);
    });
    this.show();
  }

  show() {
    const words = this.text.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const matching = rejected.filter(program => (this.reasons.size === 0 || this.reasons.has(program.reason)) && words.every(word =>
      /^\d+$/.test(word) ? [program.id, program.parent].map(String).includes(word) || program.changeText.toLowerCase().split(/\s+|,/).includes(word)
        : `${program.changeText} ${REASONS[program.reason].name} ${program.detail ?? ""}`.toLowerCase().includes(word)));
    this.count.textContent = matching.length === rejected.length ? plural(rejected.length, "program") : `${matching.length} of ${plural(rejected.length, "program")}`;
    this.table.show(matching);
  }
}
