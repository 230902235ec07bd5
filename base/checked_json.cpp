#include "base/checked_json.h"

#include <cassert>
#include <utility>

#include "base/checksum_header.h"
#include "base/files.h"

namespace neutra {
namespace {

constexpr const char* kDigest = "digest";

}  // namespace

Json with_digest(Json document) {
  assert(document.is_object() && !document.contains(kDigest));
  document[kDigest] = digest(document.dump(-1, ' ', false, Json::error_handler_t::replace));
  return document;
}

std::string text_with_digest(std::string_view text, const std::string& file) {
  const Json document = with_digest(parse_json(text, file));
  const std::size_t end = text.find_last_not_of(" \n", text.rfind('}') - 1);
  return std::string(text.substr(0, end + 1)) + ",\n  \"" + kDigest +
         "\": " + document[kDigest].dump() + "\n}\n";
}

DigestState take_digest(Json& document) {
  const Json* found = member(document, kDigest);
  if (found == nullptr) return DigestState::kMissing;
  const Json stated = *found;
  document.erase(kDigest);
  return stated == with_digest(document)[kDigest] ? DigestState::kRight : DigestState::kWrong;
}

Json read_checked_json(const std::filesystem::path& file, std::string_view format) {
  Json document = read_json(file);
  const Json stated = document.is_object() ? document.value(kDigest, Json()) : Json();
  const DigestState state = take_digest(document);
  if (state == DigestState::kMissing && document.is_object() &&
      document.value("format", Json()) == format) {
    warn_no_digest(file);
  }
  if (state == DigestState::kWrong) {
    throw damaged_file(file, with_digest(document)[kDigest].get<std::string>(), stated.dump());
  }
  return document;
}

}  // namespace neutra
