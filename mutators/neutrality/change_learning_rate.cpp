#include <cmath>

#include "base/json.h"
#include "base/numbers.h"
#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_learning_rate{
    "change_learning_rate",
    "HLR",
    "Multiplies or divides the learning rate.",
    kTable2,
    program::KeyKind::kLearningRate,
    [](const std::string& current, Preset preset) {
      const double rate = parse_number(current, program::KeyKind::kLearningRate);
      std::vector<std::string> values;
      for (const Step& step : preset_steps(preset, program::KeyKind::kLearningRate)) {
        const double next = decimal_clean(step.divide ? rate / step.factor : rate * step.factor);
        if (std::isfinite(next) && next > 0 && next != rate) values.push_back(python_repr(next));
      }
      return values;
    }};

}  // namespace neutra::mutators::neutrality
