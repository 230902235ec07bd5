#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "training/data/table.h"

namespace neutra::training {

/// Refuses NaN and infinities, unless arguments.allow_nan is true: throws input_error with `place`
/// and the row.
void require_finite(const Table& table, const std::string& place, const Json& arguments);

/// Is it the name of an array of weights? They are finite in any case (read_arrays()).
inline bool is_weights(const std::string& name) { return name.starts_with("sample_weight"); }

/// Throws input_error unless x and y of each part have the same number of rows, at least one.
void require_rows(const RawData& data);

/// Arrays x and y, or x_train, y_train, x_test and y_test, of a place that has arrays by name;
/// `noun`: what it calls them. `weighted`: also sample_weight, or sample_weight_train and, where it
/// is there, sample_weight_test: a finite number for each row. Reads all headers first: rows that
/// don't match are refused before memory is taken for them. Throws input_error where an array is
/// missing or one too many.
RawData read_arrays(const std::string& place, const char* noun,
                    const std::function<bool(const std::string&)>& has,
                    const std::function<Table(const std::string&, Reading)>& read, Reading reading,
                    bool weighted);

}  // namespace neutra::training
