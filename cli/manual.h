#pragma once

#include <string>

#include "cli/verbs.h"

namespace neutra::cli {

/// The manual page of a verb, neutra-VERB(1), in the macros of man(7), made of what --help says.
/// `date`: "2026-11-29".
std::string manual_page(const Verb& verb, const std::string& date);
/// neutra(1).
std::string manual_page(const std::string& date);

}  // namespace neutra::cli
