#include "cli/bench/entries.h"

#include <algorithm>
#include <iostream>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "experiments/benchmark/build.h"
#include "experiments/benchmark/views.h"
#include "mutators/registry.h"
#include "program/vocabulary.h"
#include "search/store_reader.h"

namespace neutra::cli {
namespace {

/// The words of a filter, each of which must be one of `known`; empty: no filter.
std::set<std::string> filter(const Arguments& arguments, const std::string& option,
                             const std::set<std::string>& known) {
  std::set<std::string> words;
  if (!arguments.has(option)) return words;
  for (const std::string& word : arguments.list(option)) {
    if (!known.contains(word))
      throw input_error(
          describe("", "--" + option, "'" + word + "'",
                   allowed_words(word, {known.begin(), known.end()}) + ": those of the benchmark"));
    words.insert(word);
  }
  return words;
}

/// Ids and abbreviations of its operators; no abbreviation of one of another version of neutra.
std::set<std::string> operator_names(const experiments::BenchmarkEntry& entry) {
  std::set<std::string> names;
  for (const mutators::Application& application : entry.applications) {
    names.insert(application.op);
    if (const mutators::MutationOperator* op = mutators::known_mutation_operator(application.op))
      names.emplace(op->abbreviation);
  }
  return names;
}

/// Is one of the words among those of a filter? An empty filter takes all.
bool passes(const std::set<std::string>& filter, const std::set<std::string>& words) {
  return filter.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
           return filter.contains(word);
         });
}

}  // namespace

const std::vector<std::string>& entry_filters() {
  static const std::vector<std::string> names{"category", "deprecated", "fault-type", "operator",
                                              "subject"};
  return names;
}

bool has_filters(const Arguments& arguments) {
  return std::any_of(entry_filters().begin(), entry_filters().end(),
                     [&](const std::string& name) { return arguments.has(name); });
}

Entries chosen_entries(const experiments::Benchmark& benchmark, const Arguments& arguments) {
  Entries chosen;
  if (arguments.positional.size() > 2) {
    for (std::size_t i = 2; i < arguments.positional.size(); ++i) {
      const experiments::EntryAddress address =
          experiments::find_entry(benchmark, arguments.positional[i]);
      if (address.version)
        throw usage_error("found entry '" + arguments.positional[i] +
                          "'; allowed: a number without b or f");
      if (std::find(chosen.begin(), chosen.end(), address.entry) == chosen.end())
        chosen.push_back(address.entry);
    }
    return chosen;
  }
  std::set<std::string> subjects, types, operators, categories;
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    subjects.insert(entry.subject);
    operators.merge(operator_names(entry));
    if (!entry.category.empty()) categories.insert(entry.category);
    types.merge(program::types_of(entry.faults));
  }
  subjects = filter(arguments, "subject", subjects);
  types = filter(arguments, "fault-type", types);
  operators = filter(arguments, "operator", operators);
  categories = filter(arguments, "category", categories);
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    if ((!entry.deprecated || arguments.flag("deprecated")) && passes(subjects, {entry.subject}) &&
        passes(operators, operator_names(entry)) && passes(categories, {entry.category}) &&
        passes(types, program::types_of(entry.faults)))
      chosen.push_back(&entry);
  }
  return chosen;
}

experiments::EntryAddress one_entry(const experiments::Benchmark& benchmark,
                                    const Arguments& arguments) {
  return experiments::find_entry(benchmark, arguments.positional[2]);
}

std::string site_text(const experiments::BenchmarkEntry& entry) {
  const mutators::Site site =
      entry.applications.size() == 1 ? entry.applications.front().site : mutators::kWholeProgram;
  return site == mutators::kWholeProgram ? entry.place : entry.place + " " + std::to_string(site);
}

std::string name_text(const experiments::BenchmarkEntry& entry) {
  return entry.catalogue.empty() ? entry.name : entry.catalogue + " " + entry.name;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

Json kinds_without(const experiments::Benchmark& benchmark) {
  std::set<std::string> with;
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    if (entry.deprecated) continue;
    with.insert(entry.catalogue);
    for (const mutators::Application& application : entry.applications) with.insert(application.op);
  }
  Json kinds = Json::object();
  for (const experiments::NoEntry& none : benchmark.without) {
    if (with.contains(none.fault())) continue;
    kinds[none.fault()].push_back(
        {{"subject", none.subject}, {"applies", none.applies}, {"reason", none.reason}});
  }
  return kinds;
}

std::string kinds_text(const Json& kinds) {
  if (kinds.empty()) return "";
  std::string text = "\nFault kinds without an entry:\n";
  for (const auto& [op, reasons] : kinds.items()) {
    text += "  " + op + "\n";
    std::vector<std::string> not_here;
    for (const Json& reason : reasons) {
      const std::string subject = reason.at("subject");
      if (reason.at("applies").get<bool>())
        text += "    " + subject + ": " + reason.at("reason").get<std::string>() + "\n";
      else
        not_here.push_back(subject);
    }
    if (!not_here.empty()) text += "    applies nowhere in " + join(not_here) + "\n";
  }
  return text;
}

void add_networks(experiments::Benchmark& benchmark, const Arguments& arguments) {
  if (!arguments.has("network")) return;
  std::vector<search::StoredRun> searches;
  for (const std::string& store : arguments.list("network"))
    searches.push_back(search::read_store(store));
  if (experiments::add_alternatives(benchmark, searches) == 0)
    std::cerr << "neutra: " << join(arguments.list("network"))
              << ": no finished search from an entry's faulty program for what is as good as the "
                 "correct one\n";
}

}  // namespace neutra::cli
