#pragma once

namespace neutra::program {

/// Teaches kind_of_file() and kind_of_binary() what neutra's own binary formats are called, so that
/// a message says "the store of a search" and not "an HDF5 file". A program calls it once, at its
/// start.
void name_file_formats();

}  // namespace neutra::program
