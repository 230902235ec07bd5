#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace neutra::report {

/// Names of all tables that a report can have (report/tables.json), sorted.
std::vector<std::string> report_tables();

/// Layouts of the tables that a document has, by name, for its field `tables`.
Json tables_json(const Json& document);

/// A table of a report's document as CSV: a header line, then a line for each row. Texts as they
/// are, numbers with the shortest decimals that read back ("9", "0.1", "1e-05"), nothing for null,
/// lists as words with "nan" for a null, objects as "key=value,...". Throws usage_error for a table
/// that the document lacks.
std::string table_csv(const Json& document, const std::string& name);

}  // namespace neutra::report
