#pragma once

#include <optional>
#include <vector>

#include "mutators/likely.h"
#include "mutators/neighbours.h"
#include "program/parameters.h"
#include "program/program.h"

namespace neutra {

/// What the search needs to know of a family of programs; tests and replays bring their own.
class SearchSpace {
 public:
  virtual ~SearchSpace() = default;
  /// Every candidate around `parameters`, visited or not, in the order of generation.
  virtual std::vector<Neighbour> neighbours(const Parameters& parameters) const = 0;
  /// Throws Error where the parameters make no program: such a candidate is invalid.
  virtual Program program(const Parameters& parameters) const = 0;
  virtual Hash hash(const Program& program) const { return program_hash(program); }
  /// What is known of a change beforehand. It only orders what came out equal.
  virtual Likelihood likelihood(const Mutation&) const { return {}; }
  /// The place of a program in the queue of a search that is replayed; nullopt: the search itself
  /// orders what came out equal.
  virtual std::optional<std::int64_t> recorded_place(const Parameters&) const {
    return std::nullopt;
  }
};

/// The neighbours of a ProgramSpace under a preset. Keeps a reference to `space`.
class ProgramSearchSpace : public SearchSpace {
 public:
  ProgramSearchSpace(const ProgramSpace& space, Preset preset)
      : space_(space), preset_(preset), likely_(space) {}
  std::vector<Neighbour> neighbours(const Parameters& parameters) const override {
    return neutra::neighbours(space_, parameters, preset_);
  }
  Program program(const Parameters& parameters) const override {
    return space_.instantiate(parameters);
  }
  Likelihood likelihood(const Mutation& mutation) const override { return likely_.of(mutation); }

 private:
  const ProgramSpace& space_;
  Preset preset_;
  LikelyChanges likely_;
};

}  // namespace neutra
