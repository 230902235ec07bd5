#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "mutators/mutants.h"
#include "mutators/registry.h"
#include "tests/source_file.h"

/// Programs that mutation operators are tried on, and what they do there.
namespace neutra::mutators::tests {

inline program::Program read_program(const std::string& name) {
  return {read_json(source_file("tests/mutators/data") / (name + ".json"))};
}

inline program::Program classifier() { return read_program("classifier"); }
inline program::Program regressor() { return read_program("regressor"); }

inline program::DataInfo images() { return {{6, 6, 1}, {3}, 1000, true, 0, 1}; }

/// What the mutation changes in the document, as a JSON patch.
inline Json patch(const program::Program& program, const std::string& mutation,
                  const program::DataInfo* data = nullptr) {
  const Mutant mutant = apply_all(program, {parse_application(mutation, 7)}, data);
  return Json::diff(program.document, mutant.program.document);
}

inline Json json(const char* text) { return Json::parse(text); }

/// The message of the refusal.
inline std::string refusal(const program::Program& program, const std::string& mutation,
                           const program::DataInfo* data = nullptr) {
  try {
    apply_all(program, {parse_application(mutation, 0)}, data);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput);
    return error.what();
  }
  return "accepted";
}

inline std::vector<Json> values(const program::Program& program, const char* op,
                                Site site = kWholeProgram, const std::string& subject = "") {
  std::vector<Json> list;
  for (const Candidate& candidate :
       candidates(find_mutation_operator(op), make_target(program, nullptr, subject), site)) {
    if (!candidate.refusal) list.push_back(candidate.value);
  }
  return list;
}

using Values = std::vector<Json>;

inline std::vector<Site> sites(const program::Program& program, const char* op) {
  return find_sites(find_mutation_operator(op), make_target(program)).sites;
}

inline std::string nowhere(const program::Program& program, const char* op) {
  return find_sites(find_mutation_operator(op), make_target(program)).reason;
}

using Layers = std::vector<Site>;

inline ValueRange range(const program::Program& program, const char* op,
                        const std::string& subject = "") {
  return search_range(find_mutation_operator(op), make_target(program, nullptr, subject));
}

}  // namespace neutra::mutators::tests
