#pragma once

#include "cli/arguments.h"
#include "report/report.h"

namespace neutra::cli {

/// Trains the programs of --curves again, as the search of a store did: with its seed, its replicas
/// (at most --replicas), its back end and its memory limit, but without its time limit. Throws
/// usage_error for what --curves can't name, input_error for a network that no search of a known
/// fault has left.
report::ReportCurves train_curves(const Arguments& arguments,
                                  const experiments::NetworkFile& network, const std::string& file);

}  // namespace neutra::cli
