#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace neutra::search {

// The header of a store: a JSON object that says what was searched, with which configuration and by
// which program (docs/formats/store.md).

/// What the process does that has a store's lock, for the message of who finds it locked.
inline constexpr const char* kStoreInUse = "the store is in use by another search";

/// What differs between the search that made a store and the one that is asked for, one text for
/// each field; empty: they are the same search. Fields that older stores lack mean what those
/// searches did.
std::vector<std::string> header_differences(const Json& stored, const Json& wanted);

/// Do the headers differ by nothing but budgets that are larger now? Such a search goes on as if it
/// had had them from the start: what it trained is needed, and in the same order.
bool raises_budgets(const Json& stored, const Json& wanted);

/// Takes the budgets of `wanted` over into `header`, and its command line.
void raise_budgets(Json& header, const Json& wanted);

/// Throws input_error for the header of a newer version; `file`: the store or its journal.
void require_known_version(const std::filesystem::path& file, const Json& header);

/// The error for a file of a newer version; `found` names it: "version 7".
Error newer_version(const std::filesystem::path& file, const std::string& found);

}  // namespace neutra::search
