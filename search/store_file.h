#pragma once

#include <filesystem>

#include "search/store_content.h"

namespace neutra::search {

// FILE, the HDF5 file of a store (docs/formats/store.md, "FILE"). It is never changed in place.

/// How messages name what is asked for.
inline constexpr const char* kAStore = "a store made by neutra search";

/// Writes the whole content to FILE.tmp, syncs it and renames it to FILE, so that a reader sees the
/// old or the new one. Throws failure() where the disk is full or can't be written: then FILE is
/// the old one, and the message says whether the journal keeps what is not in it.
void write_store_file(const std::filesystem::path& file, const StoreContent& content);

/// Fills the content with what FILE holds. Throws input_error: no store, damaged, of a newer
/// version.
void read_store_file(const std::filesystem::path& file, StoreContent& content);

/// The header alone. Throws input_error likewise.
Json read_store_header(const std::filesystem::path& file);

/// Throws input_error where a file of another kind has the name that a store is to get.
void require_store_or_free(const std::filesystem::path& file);

}  // namespace neutra::search
