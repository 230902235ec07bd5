#include <iostream>

#include "cli/context.h"
#include "cli/verbs.h"
#include "search/options.h"

namespace neutra::cli {
namespace {

int run(const Arguments& arguments) {
  Json list = Json::array();
  TextTable table({"id", "layers", "keys", "batch", "epochs", "loss", "title"});
  for (const auto& id : subject_ids()) {
    const Subject subject = load_subject(id);
    const ResolvedProgram program = resolve(subject.space.base());
    if (arguments.flag("json")) {
      list.push_back({{"id", subject.id},
                      {"title", subject.title},
                      {"layers", program.layers.size()},
                      {"metric", program.metric},
                      {"goal", to_string(program.goal)},
                      {"parameters", to_string(subject.space.base_parameters())},
                      {"file", subject.file.string()}});
    } else {
      table.add({subject.id, std::to_string(program.layers.size()),
                 std::to_string(subject.space.keys().size()), std::to_string(program.batch_size),
                 std::to_string(program.epochs), program.loss, subject.title});
    }
  }
  std::cout << (arguments.flag("json") ? to_text(list) : table.text());
  return 0;
}

}  // namespace

Verb subjects_verb() {
  return {"subjects",
          "list the bundled subject programs",
          "subjects [--json]",
          {{}, 0, 0, ""},
          "Subjects are the programs that the bundled faults are made of: correct ones for "
          "artificial faults, the\n"
          "faulty ones of the original posts for real faults.",
          "  neutra subjects",
          run};
}

}  // namespace neutra::cli
