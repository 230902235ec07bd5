#include "training/losses.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/strings.h"
#include "program/document.h"
#include "training/keras_release.h"
#include "training/losses/list.h"
#include "training/registry_names.h"

namespace neutra::training {
namespace {

using at::Tensor;

/// The formulas of a loss (training/losses/common.h).
struct Form {
  Loss::Values values;
  Loss::Gradient gradient = nullptr;  ///< null: autograd's
};
template <typename L>
Form form() {
  if constexpr (requires(const Tensor& t) { L::template gradient<Tensor>(t, t); }) {
    return {L::template values<Tensor>, L::template gradient<Tensor>};
  } else {
    return {L::template values<Tensor>};
  }
}

struct Entry {
  Form on_output;
  const char* activation;  ///< whose input the loss can be computed from; null: none
  Form on_logits;
};

const std::map<std::string, Entry>& registry() {
  static const std::map<std::string, Entry> kRegistry = [] {
    std::map<std::string, Entry> entries;
    losses::for_each_loss([&]<typename Output, typename Logits>(losses::Named<Output, Logits> l) {
      entries[l.name] = {form<Output>(), l.activation, form<Logits>()};
    });
    return entries;
  }();
  return kRegistry;
}

/// Keras's remove_squeezable_dimensions.
Tensor squeezed(const Tensor& longer, const Tensor& shorter) {
  return longer.dim() == shorter.dim() + 1 && longer.size(-1) == 1 ? longer.squeeze(-1) : longer;
}

}  // namespace

Loss::Loss(const std::string& name, const std::string& output_activation,
           const program::LossOptions& options)
    : sparse_(takes_class_indices(name)),
      smoothing_(options.label_smoothing),
      binary_(name == "binary_crossentropy") {
  const auto it = registry().find(name);
  if (it == registry().end()) throw input_error("loss " + name + " is not available yet");
  const Entry& entry = it->second;
  on_logits_ = entry.activation != nullptr &&
               program::takes_logits(options, entry.activation, output_activation);
  const bool of_logits = on_logits_ || (options.from_logits && entry.activation != nullptr);
  const Form& form = of_logits ? entry.on_logits : entry.on_output;
  values_ = form.values;
  gradient_ = form.gradient;
}

Tensor Loss::smoothed(const Tensor& target) const {
  if (smoothing_ == 0) return target;
  const double classes = binary_ ? 2 : static_cast<double>(target.size(-1));
  return target * (1 - smoothing_) + smoothing_ / classes;
}

Tensor Loss::mean(const Tensor& output, const Tensor& target, const Tensor& weights) const {
  // Class indices of one rank less are what sparse losses expect: nothing to drop.
  const Tensor values = sparse_
                            ? values_(output, target)
                            : values_(squeezed(output, target), smoothed(squeezed(target, output)));
  if (!weights.defined()) return values.mean();
  return (values.reshape({weights.numel(), -1}) * weights.reshape({-1, 1})).mean();
}

std::optional<Tensor> Loss::gradient(const Tensor& output, const Tensor& target,
                                     const Tensor& weights) const {
  if (gradient_ == nullptr || (!sparse_ && !output.sizes().equals(target.sizes()))) return {};
  const at::NoGradGuard guard;
  Tensor gradient = gradient_(output, smoothed(target));
  if (weights.defined()) {
    std::vector<std::int64_t> extents(static_cast<std::size_t>(gradient.dim()), 1);
    std::copy(weights.sizes().begin(), weights.sizes().end(), extents.begin());
    gradient.mul_(weights.view(extents));
  }
  return gradient;
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names = registry_names(registry());
  std::erase_if(names, [](const std::string& name) { return contains(name, "/"); });  // old Keras's
  return names;
}

}  // namespace neutra::training
