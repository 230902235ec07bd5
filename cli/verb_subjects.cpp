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

/// A subject with its program and what is made of it.
struct ListedSubject {
  experiments::Subject subject;
  program::ResolvedProgram program;
  Uses uses;
};

struct SubjectList {
  std::vector<ListedSubject> subjects;
};

Json json_of(const SubjectList& all) {
  Json list = Json::array();
  for (const auto& [subject, program, uses] : all.subjects)
    list.push_back({{"id", subject.id},
                    {"title", subject.title},
                    {"faulty", uses.faulty},
                    {"faults", uses.faults},
                    {"layers", program.layers.size()},
                    {"metric", program.metric},
                    {"goal", program::to_string(program.goal)},
                    {"parameters", program::to_string(subject.space.base_parameters())},
                    {"file", subject.file.string()}});
  return list;
}

std::string text_of(const SubjectList& all) {
  TextTable table({"id", "faulty", "faults", "layers", "keys", "batch", "epochs", "loss", "title"});
  for (const auto& [subject, program, uses] : all.subjects)
    table.add({subject.id, uses.faulty ? "yes" : "no", join(uses.faults),
               std::to_string(program.layers.size()), std::to_string(subject.space.keys().size()),
               std::to_string(program.batch_size), std::to_string(program.epochs), program.loss,
               subject.title});
  return table.text();
}

Result run(const Arguments&) {
  std::vector<experiments::Subject> subjects;
  for (const std::string& id : experiments::subject_ids())
    subjects.push_back(experiments::load_subject(id));
  std::map<std::string, Uses> uses = uses_of(subjects);
  SubjectList all;
  for (experiments::Subject& subject : subjects) {
    program::ResolvedProgram program = program::resolve(subject.space.base());
    Uses& own = uses[subject.id];
    all.subjects.push_back({std::move(subject), std::move(program), std::move(own)});
  }
  return result_of(std::move(all));
}

}  // namespace

Verb subjects_verb() {
  return {.name = "subjects",
          .summary = "list the bundled subject programs",
          .synopsis = "subjects [--json]",
          .description =
              "Subjects are the programs that the bundled faults are made of: correct ones for "
              "artificial faults, the\n"
              "faulty ones of the original posts for real faults. Other verbs take a subject where "
              "they take a fault, as a\n"
              "program without a known fix.",
          .example = "  neutra subjects",
          .run = run};
}

}  // namespace neutra::cli
