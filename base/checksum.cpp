#include "base/checksum.h"

#include <cassert>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/warn_once.h"

namespace neutra {
namespace {

std::string text_of(const Seal& seal) {
  std::string text =
      seal.format + " version " + std::to_string(seal.version) + " xxh3-128 " + seal.digest + "\n";
  text.resize(kSealBytes, '\0');
  return text;
}

constexpr const char* kDigest = "digest";

Error damaged(const std::filesystem::path& file, const std::string& found,
              const std::string& stated) {
  return input_error(describe(file.string(), "", "digest " + found,
                              stated + ": the file is damaged or was changed; make it again, or "
                                       "take another copy"));
}

}  // namespace

void seal(std::string& image, std::string_view format, int version) {
  assert(image.size() > kSealBytes);
  const std::string text =
      text_of({std::string(format), version, digest(std::string_view(image).substr(kSealBytes))});
  image.replace(0, kSealBytes, text);
}

std::optional<Seal> read_seal(const std::filesystem::path& file) {
  require_no_pipe(file, "an HDF5 file");
  std::ifstream in(file, std::ios::binary);
  std::string bytes(kSealBytes, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.bad() || !in.is_open()) {
    throw input_error(describe(file.string(), "", "a file that can't be read", ""));
  }
  if (in.gcount() != static_cast<std::streamsize>(kSealBytes)) return std::nullopt;
  Seal seal;
  std::string version, method;
  std::istringstream words(bytes);
  words >> seal.format >> version >> seal.version >> method >> seal.digest;
  if (!words || seal.version < 1 || text_of(seal) != bytes) return std::nullopt;
  return seal;
}

std::string sealed_digest(const std::filesystem::path& file) {
  return file_digest(file, kSealBytes);
}

void require_seal(const std::filesystem::path& file, std::string_view format, int version) {
  require_no_pipe(file, "an HDF5 file");
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw input_error(file.string() + ": there is no such file");
  }
  const bool is_file = std::filesystem::is_regular_file(file, ignored);
  const std::optional<Seal> stated = is_file ? read_seal(file) : std::nullopt;
  if (!stated) {
    const std::string start = start_of_file(file, kHdf5Start.size());
    if (start == kHdf5Start) return warn_unsealed(file);
    const bool block = is_hdf5_file(file);
    throw input_error(describe(file.string(), "",
                               block ? "bytes at its start that are no seal" : kind_of_file(file),
                               "a whole file of " + std::string(format)));
  }
  if (stated->format != format) {
    throw input_error(
        describe(file.string(), "", kind_of_file(file), "a file of " + std::string(format)));
  }
  if (stated->version > version) {
    throw input_error(describe(file.string(), "", "version " + std::to_string(stated->version),
                               "up to " + std::to_string(version) + ": a newer neutra made it"));
  }
  if (const std::string found = sealed_digest(file); found != stated->digest) {
    throw damaged(file, found, stated->digest);
  }
}

Json sealed(Json document) {
  assert(document.is_object() && !document.contains(kDigest));
  document[kDigest] = digest(document.dump(-1, ' ', false, Json::error_handler_t::replace));
  return document;
}

std::string sealed_text(std::string_view text, const std::string& file) {
  const Json document = sealed(parse_json(text, file));
  const std::size_t end = text.find_last_not_of(" \n", text.rfind('}') - 1);
  return std::string(text.substr(0, end + 1)) + ",\n  \"" + kDigest +
         "\": " + document[kDigest].dump() + "\n}\n";
}

SealState unseal(Json& document) {
  const Json* found = member(document, kDigest);
  if (found == nullptr) return SealState::kNone;
  const Json stated = *found;
  document.erase(kDigest);
  return stated == sealed(document)[kDigest] ? SealState::kWhole : SealState::kDamaged;
}

Json read_sealed_json(const std::filesystem::path& file, std::string_view format) {
  Json document = read_json(file);
  const Json stated = document.is_object() ? document.value(kDigest, Json()) : Json();
  const SealState state = unseal(document);
  if (state == SealState::kNone && document.is_object() &&
      document.value("format", Json()) == format) {
    warn_unsealed(file);
  }
  if (state == SealState::kDamaged) {
    throw damaged(file, sealed(document)[kDigest].get<std::string>(), stated.dump());
  }
  return document;
}

void warn_unsealed(const std::filesystem::path& file) {
  warn_once(file.string() +
            ": has no digest, as files of older versions; damage to it would not be noticed");
}

}  // namespace neutra
