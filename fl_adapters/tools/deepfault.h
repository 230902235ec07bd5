#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fl_adapters/messages.h"
#include "fl_adapters/trained_model.h"

/// DeepFault (Eniser, Gerasimou and Sen, FASE 2019): neurons that are active when predictions are
/// wrong. docs/methods/deepfault.md has every rule, and what `repaired` fixes.
namespace neutra::fl_adapters::deepfault {

/// Messages and thresholds: tools/deepfault.json.
const MessageTable& message_table();

/// How often a neuron was active, or wasn't, in failing and passing rows.
struct Spectrum {
  std::int64_t active_failed = 0, active_passed = 0, idle_failed = 0, idle_passed = 0;
  bool operator==(const Spectrum&) const = default;
};

/// A formula, with af and ap for active neurons in failing and passing rows, if for idle ones in
/// failing rows, f and p for all failing and passing rows.
enum class Measure {
  kTarantula,  ///< (af / f) / (af / f + ap / p)
  kOchiai,     ///< af / sqrt(f (af + ap))
  kDStar       ///< af^3 / (ap + if); infinite where only the denominator is 0
};
/// With f and p all failing and passing rows; higher is more suspicious. 0 / 0 is 0, as in the
/// tool.
double suspiciousness(Measure measure, const Spectrum& spectrum);

/// The neurons of a layer: of a Dense layer its units, of a convolution its filters.
struct LayerSpectrum {
  int layer = 0;
  std::vector<Spectrum> neurons;
  /// Rows of the layer's outputs: passed.size() of them, neurons along the last extent. A neuron is
  /// active where the mean of its outputs is above the table's threshold.
  void add(std::span<const float> outputs, const std::vector<bool>& passed);
};

/// Of the layers that the tool looks at, over the program's test rows.
std::vector<LayerSpectrum> spectra(const FaultyProgram& faulty, const LocaliseContext& context,
                                   const program::ModelWeights& weights);

/// The layers, each as suspicious as its most suspicious neuron, and the neurons.
std::vector<evaluators::Suspect> ranking(const std::vector<LayerSpectrum>& layers, Measure measure);

}  // namespace neutra::fl_adapters::deepfault
