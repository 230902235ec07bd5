#include "graphs/abstract_tensor.h"

#include <algorithm>
#include <cmath>

namespace neutra::graphs {

Interval AbstractTensor::whole() const {
  Interval all = blocks.front();
  for (const Interval& block : blocks) all = hull(all, block);
  return all;
}

AbstractTensor tensor_within(const Interval& interval, ElementType type) {
  AbstractTensor tensor;
  tensor.type = type;
  tensor.blocks = {interval};
  return tensor;
}

AbstractTensor joined(const AbstractTensor& tensor) {
  return tensor_within(tensor.whole(), tensor.type);
}

AbstractTensor mapped(const AbstractTensor& tensor,
                      const std::function<Interval(const Interval&)>& f) {
  AbstractTensor result;
  result.type = tensor.type;
  result.cuts = tensor.cuts;
  result.back = tensor.back;
  result.blocks.clear();
  for (const Interval& block : tensor.blocks) result.blocks.push_back(f(block));
  if (tensor.attained) result.attained = {tensor.attained->axes, f(tensor.attained->within)};
  return result;
}

AbstractTensor zipped(const AbstractTensor& a, const AbstractTensor& b,
                      const std::function<Interval(const Interval&, const Interval&)>& f) {
  if (a.parted() && b.parted() && a.back != b.back)
    return a.blocks.size() >= b.blocks.size() ? zipped(a, joined(b), f) : zipped(joined(a), b, f);
  AbstractTensor result;
  result.type = a.type;
  result.back = a.parted() ? a.back : b.back;
  std::set_union(a.cuts.begin(), a.cuts.end(), b.cuts.begin(), b.cuts.end(),
                 std::back_inserter(result.cuts));
  if (result.cuts.size() >= kMostBlocks) return zipped(joined(a), joined(b), f);
  result.blocks.clear();
  for (std::size_t i = 0; i <= result.cuts.size(); ++i) {
    const std::int64_t begin = i == 0 ? 0 : result.cuts[i - 1];
    const auto block = [&](const AbstractTensor& tensor) {
      const auto at = std::upper_bound(tensor.cuts.begin(), tensor.cuts.end(), begin);
      return tensor.blocks[static_cast<std::size_t>(at - tensor.cuts.begin())];
    };
    result.blocks.push_back(f(block(a), block(b)));
  }
  return result;
}

AbstractTensor cut_out(const AbstractTensor& tensor, std::size_t back, std::int64_t begin,
                       std::optional<std::int64_t> end) {
  AbstractTensor result = tensor;
  result.symbol = 0;
  result.form.reset();
  result.attained.reset();
  if (!tensor.parted() || tensor.back != back) return result;
  result.blocks.clear();
  result.cuts.clear();
  for (std::size_t i = 0; i < tensor.blocks.size(); ++i) {
    const std::int64_t from = i == 0 ? 0 : tensor.cuts[i - 1];
    const bool after = end && from >= *end;
    const bool before = i < tensor.cuts.size() && tensor.cuts[i] <= begin;
    if (after || before) continue;
    if (!result.blocks.empty()) result.cuts.push_back(from - begin);
    result.blocks.push_back(tensor.blocks[i]);
  }
  return result.blocks.empty() ? joined(tensor) : result;
}

void confine(AbstractTensor& tensor, const Interval& interval) {
  for (Interval& block : tensor.blocks) block = meet(block, interval);
}

std::string key_of(const Shape& shape) {
  std::string key;
  if (!shape) return "?";
  for (const Dim& dim : *shape)
    key += std::to_string(dim.constant) + "/" + std::to_string(dim.factor) + "/" +
           std::to_string(dim.symbol) + ",";
  return key;
}

std::uint32_t Relations::fresh(const Interval& bounds) {
  symbols_.push_back({bounds, 0, ""});
  return static_cast<std::uint32_t>(symbols_.size() - 1);
}

std::uint32_t Relations::view(std::uint32_t symbol, const std::string& change) {
  if (symbol == 0) return 0;
  const auto [place, made] = views_.try_emplace({symbol, change}, 0);
  if (made) {
    const Interval bounds = symbols_[symbol].bounds;
    symbols_.push_back({bounds, symbol, change});
    place->second = static_cast<std::uint32_t>(symbols_.size() - 1);
  }
  return place->second;
}

std::uint32_t Relations::broadcast(std::uint32_t symbol, const Shape& from, const Shape& to) {
  if (!from || !to) return 0;
  return *from == *to ? symbol : view(symbol, "broadcast " + key_of(to));
}

void Relations::set_at_most(std::uint32_t a, std::uint32_t b,
                            const std::set<std::size_t>& attained) {
  if (a != 0 && b != 0) at_most_[{a, b}] = attained;
}

bool Relations::is_at_most(std::uint32_t a, std::uint32_t b) const {
  for (int depth = 0; depth < 4 && a != 0 && b != 0; ++depth) {
    if (a == b || at_most_.contains({a, b})) return true;
    const Symbol &x = symbols_[a], &y = symbols_[b];
    if (x.base == 0 || x.change != y.change) return false;
    a = x.base;
    b = y.base;
  }
  return false;
}

std::set<std::size_t> Relations::equal_along(std::uint32_t a, std::uint32_t b) const {
  const auto found = at_most_.find({a, b});
  return found == at_most_.end() ? std::set<std::size_t>{} : found->second;
}

Linear Relations::viewed(const Linear& form, const Shape& from, const Shape& to) {
  Linear result;
  result.rest = form.rest;
  for (const auto& [symbol, factor] : form.terms)
    result.terms[broadcast(symbol, from, to)] += factor;
  return result;
}

Interval Relations::bounds(const Linear& form) const {
  std::vector<std::pair<std::uint32_t, double>> up, down;
  for (const auto& [symbol, factor] : form.terms) {
    if (factor > 0) up.emplace_back(symbol, factor);
    if (factor < 0) down.emplace_back(symbol, -factor);
  }
  // Pairs whose difference has a known sign; what is left of each goes by its own bounds.
  const auto sum = [&](bool upper) {
    auto plus = up, minus = down;
    double total = 0;
    for (auto& [a, x] : plus)
      for (auto& [b, y] : minus) {
        const bool signed_pair = upper ? is_at_most(a, b) : is_at_most(b, a);
        if (!signed_pair) continue;
        const double paired = std::min(x, y);
        x -= paired;
        y -= paired;
      }
    for (const auto& [a, x] : plus)
      if (x > 0) total += x * (upper ? symbols_[a].bounds.hi : symbols_[a].bounds.lo);
    for (const auto& [b, y] : minus)
      if (y > 0) total -= y * (upper ? symbols_[b].bounds.lo : symbols_[b].bounds.hi);
    return total;
  };
  Interval result = add({sum(false), sum(true)}, form.rest);
  if (std::isnan(result.lo)) result.lo = Interval{}.lo;
  if (std::isnan(result.hi)) result.hi = Interval{}.hi;
  return result;
}

}  // namespace neutra::graphs
