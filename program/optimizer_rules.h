#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "program/program.h"
#include "program/vocabulary.h"

namespace neutra::program {

/// The fields of an optimiser's config, with the defaults of the rules that it names: those of
/// tf.keras 2.4 ("keras", also where it names none that are known), of Keras since 2.11 ("keras3")
/// or of PyTorch ("torch"). `optimizer`: {class_name, config}, or anything else.
std::vector<Field> optimizer_fields(const Entry& entry, const Json& optimizer);

/// Sorts the names of a normal config's `undecayed`, and notes what is no name of a variable:
/// "bias", or "2/bias" of one layer. `path`: of the optimiser.
void normalise_undecayed(Json& config, const std::string& path, std::vector<Problem>& problems);

/// What the rules of an optimiser in normal form, with every field, don't have. `path`: of the
/// optimiser; `layers`: how many the program has.
void check_rules(const Json& optimizer, const std::string& path, std::size_t layers,
                 std::vector<Problem>& problems);

/// Another optimiser in place of one ({class_name, config}), with default settings. One that names
/// its rules keeps these, and what they do alike for all optimisers: weight decay and clipping.
void replace_optimizer(Json& optimizer, const Json& class_name);

/// `undecayed` goes on naming the layers that it names where those at `from` and behind it are now
/// `by` further on. by = -1: the one at `from` is gone.
void renumber_undecayed(Json& document, std::int64_t from, std::int64_t by);

}  // namespace neutra::program
