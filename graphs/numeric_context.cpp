#include "graphs/numeric_context.h"

namespace neutra::graphs {

const AbstractTensor& NumericContext::in(std::size_t place) const {
  static const AbstractTensor unknown;
  return place < inputs() ? lookup_(node().inputs[place]) : unknown;
}

const Shape& NumericContext::shape(std::size_t place) const {
  static const Shape unknown;
  return place < inputs() ? shapes_.of(node().inputs[place]).shape : unknown;
}

std::optional<std::vector<std::int64_t>> NumericContext::wholes(std::size_t place) const {
  if (place >= inputs()) return std::nullopt;
  const auto& value = shapes_.of(node().inputs[place]).value;
  if (!value) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Dim& dim : *value) {
    if (!dim.known()) return std::nullopt;
    numbers.push_back(dim.constant);
  }
  return numbers;
}

std::optional<std::set<std::size_t>> NumericContext::axes(std::size_t place,
                                                          std::size_t rank) const {
  const auto numbers = wholes(place);
  if (!numbers) return std::nullopt;
  std::set<std::size_t> axes;
  for (const std::int64_t number : *numbers) {
    const std::int64_t axis = number < 0 ? number + static_cast<std::int64_t>(rank) : number;
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
    axes.insert(static_cast<std::size_t>(axis));
  }
  return axes;
}

void NumericContext::out(AbstractTensor tensor) {
  if (!parts_.partitions && tensor.parted()) {
    const Interval all = tensor.whole();
    tensor.blocks = {all};
    tensor.cuts.clear();
  }
  const auto& value = shapes_.of({number_, static_cast<std::uint32_t>(outputs_.size())}).value;
  if (value && !value->empty()) {
    // Sizes are 0 and more.
    const auto bounds = [](const Dim& dim) {
      return dim.known()
                 ? Interval{static_cast<double>(dim.constant), static_cast<double>(dim.constant)}
             : dim.constant >= 0 && dim.factor > 0
                 ? Interval{static_cast<double>(dim.constant), Interval{}.hi}
                 : Interval{};
    };
    Interval all = bounds(value->front());
    for (const Dim& dim : *value) all = hull(all, bounds(dim));
    confine(tensor, all);
  }
  if (relations_ && tensor.symbol == 0) tensor.symbol = relations_->fresh(tensor.whole());
  outputs_.push_back(std::move(tensor));
}

std::optional<Interval> NumericContext::initial(std::uint32_t variable) const {
  if (!initial_values) return std::nullopt;
  const auto found = initial_values->find(variable);
  if (found == initial_values->end()) return std::nullopt;
  return found->second;
}

}  // namespace neutra::graphs
