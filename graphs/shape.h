#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graphs/graph.h"

namespace neutra::graphs {

/// A size: constant + factor * symbol. Symbols stand for what only the run decides, such as the
/// number of rows of a batch.
struct Dim {
  std::int64_t constant = 0;
  std::int64_t factor = 0;
  std::uint32_t symbol = 0;

  bool known() const { return factor == 0; }
  bool operator==(const Dim&) const = default;
};

/// Sizes of the dimensions; nullopt where even their number is unknown.
using Shape = std::optional<std::vector<Dim>>;

/// The symbols of an analysis, with the names that texts show.
class Symbols {
 public:
  /// A size that nothing is known of.
  Dim fresh(const std::string& name = "");
  /// "128", "batch", "2*batch + 1"; "?" for a symbol without a name.
  std::string text(const Dim& dim) const;
  /// "[batch, 10]"; "of unknown rank".
  std::string text(const Shape& shape) const;

  // Arithmetic; a fresh symbol where the result has no such form.

  Dim add(const Dim& a, const Dim& b);
  Dim subtract(const Dim& a, const Dim& b);
  Dim multiply(const Dim& a, const Dim& b);
  /// a / b, rounded down or up.
  Dim divide(const Dim& a, const Dim& b, bool up);

 private:
  std::vector<std::string> names_ = {""};
};

/// The size of a tensor; nullopt where it has several symbols or the rank is unknown.
std::optional<Dim> count_of(const Shape& shape);

inline Dim dim_of(std::int64_t size) { return {size, 0, 0}; }

}  // namespace neutra::graphs
