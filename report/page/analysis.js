// The parts that are about all programs of a search. page.js puts them into the page.

class Analysis {
  constructor() {
    if (!buggy) return;
    this.rejected = rejected.length ? new RejectedView() : null;
    this.course = report.course.length > 0 ? new CourseView() : null;
    this.comparison = report.compared ? new ComparisonView() : null;
    this.importance = report.importance?.keys.length ? new ImportanceView() : null;
    this.slices = outcomes.length > 1 ? new SliceView() : null;
    this.patches = report.patches ? new PatchesView() : null;
    this.scripts = report.scripts ? new ScriptsView() : null;
    const tools = (id, ...names) => byName(id).after(html("p", {class: "tools"}, csvButtons(...names)));
    tools("program-table", "repairs", "programs", "links", "subpatches");
    if (report.scores || report.study) tools("score-table", "scores", "times");
    // Pictures are drawn when they come near: a page of thousands of programs opens at once.
    this.drawn = new Set();
    this.watcher = new IntersectionObserver(entries => {
      for (const {target, isIntersecting} of entries) if (isIntersecting) this.drawView(this.views.find(view => view.section === target));
    }, {rootMargin: "600px"});
    for (const view of this.views) this.watcher.observe(view.section);
  }

  get views() {
    return [this.comparison, this.course, this.importance, this.slices].filter(Boolean);
  }

  drawView(view) {
    if (this.drawn.has(view)) return;
    this.drawn.add(view);
    view.draw();
  }

  /** Draws again what is drawn: the page has another width, or other colours. `all`: also what is out of sight, as printing needs. */
  redraw(all = false) {
    if (!buggy) return;
    for (const view of this.views) if (all || this.drawn.has(view)) {
      this.drawn.add(view);
      view.draw();
    }
  }

  filtered() {
    if (this.slices && this.drawn.has(this.slices)) this.slices.draw();
  }

  show(program) {
    this.patches?.show(program);
    this.scripts?.show(program);
  }
}
