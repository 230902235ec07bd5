#pragma once

#include <string>
#include <vector>

#include "program/json.h"

namespace neutra::cli {

/// Left-aligned text columns, numbers (cells that start with a digit, '-' or '.') to the right.
/// Cells are printable(), so that each row stays one line.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Four significant digits for people; files get the shortest decimal that reads back.
std::string rounded(double value);
/// "1 h 03 min", "12.3 s"
std::string duration_text(double seconds);

/// NaN and infinity as null, which is what JSON has for them.
Json json_number(double value);

}  // namespace neutra::cli
