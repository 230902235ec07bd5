#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/journal.h"
#include "search/store_content.h"

namespace neutra::search {

// What the records of a journal mean (docs/formats/store.md, "FILE.journal").

/// A record about one training; `type`: "started", "finished", "dropped".
Json training_record(const char* type, const EvaluationKey& key);

/// What a journal would hold of a store's content: bytes that need no HDF5 to be read, for a store
/// that is damaged. The header stands at both ends, since nothing is worth anything without it.
std::string records_of(const StoreContent& content);

/// The journal's first record that says what was searched; nullptr: none does.
const Json* header_record(const JournalContent& journal);

/// Adds the trainings, deaths and seconds in the records from byte `skip` on to the content. One
/// process wrote them: a program that it had in training when it died counts one death. Records
/// that make no sense become part of `content.journal_damage`.
void apply_records(const JournalContent& journal, std::uint64_t skip, StoreContent& content);

/// Adds what a journal holds beyond the HDF5 file, whose content is given. `bytes`: of the journal
/// `file`. Throws input_error: no journal, that of another search or of a newer version.
void apply_journal(const std::string& bytes, const std::filesystem::path& file,
                   StoreContent& content);

/// What is wrong with the journal, on one line; nullopt: nothing. The next start of the search goes
/// on all the same.
std::optional<std::string> journal_problem(const StoreContent& content,
                                           const std::filesystem::path& store);

}  // namespace neutra::search
