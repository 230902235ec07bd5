#pragma once

#include "training/data/data_places.h"
#include "training/data/table.h"

namespace neutra::training {

/// Source `reuters`: {file, num_words, test_split, seed, oov}, Keras's reuters.npz: array x of
/// lists of words, array y of topics. Makes of them what keras.datasets.reuters.load_data() of
/// tf.keras 2.4 and Keras 3 and Tokenizer(num_words).sequences_to_matrix(mode="binary") make: the
/// order is NumPy's RandomState(seed).shuffle(), a text begins with word 1, words are moved up by
/// 3, the last texts are the test rows, and a row says which of the words below `num_words` a text
/// has. `oov`: as load_data(num_words=num_words) has it, words beyond are word 2; without it, as
/// load_data(num_words=None) has it, only the rarest of all words is.
RawData read_reuters_source(const Json& arguments, const SearchPath& search_path, Reading reading);

}  // namespace neutra::training
