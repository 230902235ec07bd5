#pragma once

#include <optional>
#include <vector>

#include "mutators/likely.h"
#include "mutators/neighbours.h"
#include "program/parameters.h"
#include "program/program.h"

namespace neutra::search {

/// What the search needs to know of the programs it moves among; tests and replays have their own.
class SearchSpace {
 public:
  virtual ~SearchSpace() = default;
  /// Every candidate around `parameters`, visited or not, in the order of generation.
  virtual std::vector<mutators::Neighbour> neighbours(
      const program::Parameters& parameters) const = 0;
  /// Throws Error where the parameters make no program: such a candidate is invalid.
  virtual program::Program program(const program::Parameters& parameters) const = 0;
  /// What tells programs apart: those with one hash are trained once.
  virtual Hash hash(const program::Program& program) const {
    return program::program_hash(program);
  }
  /// What is known of a change beforehand. It only orders what came out equal.
  virtual mutators::Likelihood likelihood(const mutators::Mutation&) const { return {}; }
  /// The place of a program in the queue of a search that is replayed; nullopt: the search itself
  /// orders what came out equal.
  virtual std::optional<std::int64_t> recorded_place(const program::Parameters&) const {
    return std::nullopt;
  }
};

/// The programs of a ProgramSpace, with the neighbours that a preset's values give.
class ProgramSearchSpace : public SearchSpace {
 public:
  /// Keeps a reference to `space`.
  ProgramSearchSpace(const program::ProgramSpace& space, mutators::Preset preset)
      : space_(space), preset_(preset), likely_(space) {}
  std::vector<mutators::Neighbour> neighbours(
      const program::Parameters& parameters) const override {
    return neutra::mutators::neighbours(space_, parameters, preset_);
  }
  program::Program program(const program::Parameters& parameters) const override {
    return space_.instantiate(parameters);
  }
  mutators::Likelihood likelihood(const mutators::Mutation& mutation) const override {
    return likely_.of(mutation);
  }

 private:
  const program::ProgramSpace& space_;
  mutators::Preset preset_;
  mutators::LikelyChanges likely_;
};

}  // namespace neutra::search
