#pragma once

#include <vector>

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
};

/// The neighbours of a ProgramSpace under a preset. Keeps a reference to `space`.
class ProgramSearchSpace : public SearchSpace {
 public:
  ProgramSearchSpace(const ProgramSpace& space, Preset preset) : space_(space), preset_(preset) {}
  std::vector<Neighbour> neighbours(const Parameters& parameters) const override {
    return neutra::neighbours(space_, parameters, preset_);
  }
  Program program(const Parameters& parameters) const override {
    return space_.instantiate(parameters);
  }

 private:
  const ProgramSpace& space_;
  Preset preset_;
};

}  // namespace neutra
