#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graphs/interval.h"
#include "graphs/shape.h"

namespace neutra::graphs {

/// c1 * s1 + c2 * s2 + ... + something in `rest`, elementwise, for symbols of Relations.
struct Linear {
  std::map<std::uint32_t, double> terms;
  Interval rest{0, 0};
};

/// Along these dimensions of a tensor some element lies within the interval, wherever one looks in
/// the others: of x - max(x) one is 0.
struct Attained {
  std::set<std::size_t> axes;
  Interval within;
};

/// What is known of all elements of a tensor: intervals of blocks, into which one dimension is cut,
/// and the names under which relations know it.
struct AbstractTensor {
  ElementType type = ElementType::kUnknown;
  std::vector<Interval> blocks = {Interval{}};
  std::vector<std::int64_t> cuts;  ///< where blocks but the first begin
  std::size_t back = 0;            ///< the dimension that is cut, counted from the last one
  std::uint32_t symbol = 0;        ///< 0: none
  std::optional<Linear> form;
  std::optional<Attained> attained;

  Interval whole() const;
  bool parted() const { return !cuts.empty(); }
};

/// Most blocks of a tensor; beyond it they are joined.
inline constexpr std::size_t kMostBlocks = 32;

AbstractTensor tensor_within(const Interval& interval, ElementType type);
/// One block.
AbstractTensor joined(const AbstractTensor& tensor);
AbstractTensor mapped(const AbstractTensor& tensor,
                      const std::function<Interval(const Interval&)>& f);
/// Blocks of both are cut where either's are; where these cut different dimensions, one is joined.
AbstractTensor zipped(const AbstractTensor& a, const AbstractTensor& b,
                      const std::function<Interval(const Interval&, const Interval&)>& f);
/// The part of one dimension from `begin` to `end`; nullopt: to its end, which may be unknown.
AbstractTensor cut_out(const AbstractTensor& tensor, std::size_t back, std::int64_t begin,
                       std::optional<std::int64_t> end);
/// All blocks lie within, too.
void confine(AbstractTensor& tensor, const Interval& interval);

/// Tensors' symbols, and which of them is at most which, elementwise. A view is a symbol under a
/// change of shape, which relations survive.
class Relations {
 public:
  std::uint32_t fresh(const Interval& bounds);
  std::uint32_t view(std::uint32_t symbol, const std::string& change);
  /// The symbol broadcast from one shape to another; 0 where a rank is unknown.
  std::uint32_t broadcast(std::uint32_t symbol, const Shape& from, const Shape& to);
  /// `attained`: dimensions along which some element is equal.
  void set_at_most(std::uint32_t a, std::uint32_t b, const std::set<std::size_t>& attained = {});
  bool is_at_most(std::uint32_t a, std::uint32_t b) const;
  /// Dimensions along which a is b somewhere; none: unknown.
  std::set<std::size_t> equal_along(std::uint32_t a, std::uint32_t b) const;
  Linear viewed(const Linear& form, const Shape& from, const Shape& to);
  /// Bounds of a form, of exact values of its symbols.
  Interval bounds(const Linear& form) const;

 private:
  struct Symbol {
    Interval bounds;
    std::uint32_t base = 0;  ///< of a view
    std::string change;
  };
  std::vector<Symbol> symbols_ = {Symbol{}};
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> views_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::size_t>> at_most_;
};

/// A shape as a key, exact but for the number of its dimensions.
std::string key_of(const Shape& shape);

}  // namespace neutra::graphs
