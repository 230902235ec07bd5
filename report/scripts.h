#pragma once

#include "experiments/network_file.h"

namespace neutra::report {

/// `scripts` of a report (docs/formats/report.md): how the known fix and the repairs differ from
/// the buggy program as Keras scripts; null where the fault is not known here. Of the repairs that
/// stand first in the list of small repairs, at most `most`.
Json scripts_json(const experiments::NetworkFile& loaded, std::size_t most = 200);

}  // namespace neutra::report
