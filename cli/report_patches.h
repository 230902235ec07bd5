#pragma once

#include "cli/arguments.h"
#include "report/report.h"

namespace neutra::cli {

/// The repairs of a network, the small ones first, as patches of the script that its fault was
/// captured from: made by `neutra.sources` in the Python of --python. nullopt where --patches is
/// off or there is no script. Where they can't be made the report says why; never throws
/// input_error.
std::optional<report::ReportPatches> report_patches(const Arguments& arguments,
                                                    const experiments::NetworkFile& network);

}  // namespace neutra::cli
