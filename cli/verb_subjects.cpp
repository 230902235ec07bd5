#include <iostream>
#include <map>

#include "base/words.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "experiments/catalog.h"
#include "search/options.h"

namespace neutra::cli {
namespace {

/// The bundled faults of a subject, and whether it is the faulty program of one itself.
struct Uses {
  std::vector<std::string> faults;
  bool faulty = false;
};

std::map<std::string, Uses> uses_of(const std::vector<experiments::Subject>& subjects) {
  std::map<std::string, Hash> hashes;
  for (const experiments::Subject& subject : subjects)
    hashes[subject.id] = program::program_hash(subject.space.base());
  std::map<std::string, Uses> all;
  for (const std::string& id : experiments::fault_ids()) {
    const experiments::Fault fault = experiments::load_fault(id);
    Uses& uses = all[fault.subject];
    uses.faults.push_back(fault.id);
    uses.faulty = uses.faulty || program::program_hash(fault.buggy) == hashes.at(fault.subject);
  }
  return all;
}

int run(const Arguments& arguments) {
  Json list = Json::array();
  TextTable table({"id", "faulty", "faults", "layers", "keys", "batch", "epochs", "loss", "title"});
  std::vector<experiments::Subject> subjects;
  for (const std::string& id : experiments::subject_ids())
    subjects.push_back(experiments::load_subject(id));
  std::map<std::string, Uses> uses = uses_of(subjects);
  for (const experiments::Subject& subject : subjects) {
    const program::ResolvedProgram program = program::resolve(subject.space.base());
    if (arguments.flag("json")) {
      list.push_back({{"id", subject.id},
                      {"title", subject.title},
                      {"faulty", uses[subject.id].faulty},
                      {"faults", uses[subject.id].faults},
                      {"layers", program.layers.size()},
                      {"metric", program.metric},
                      {"goal", program::to_string(program.goal)},
                      {"parameters", program::to_string(subject.space.base_parameters())},
                      {"file", subject.file.string()}});
    } else {
      table.add({subject.id, uses[subject.id].faulty ? "yes" : "no", join(uses[subject.id].faults),
                 std::to_string(program.layers.size()), std::to_string(subject.space.keys().size()),
                 std::to_string(program.batch_size), std::to_string(program.epochs), program.loss,
                 subject.title});
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
          "faulty ones of the original posts for real faults. Other verbs take a subject where "
          "they take a "
          "fault, as a\n"
          "program without a known fix.",
          "  neutra subjects",
          run};
}

}  // namespace neutra::cli
