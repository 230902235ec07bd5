#include "program/formats/zip_archive.h"

#include <zip.h>

#include "program/error.h"

namespace neutra {

std::string zip_archive(const std::vector<std::pair<std::string, std::string>>& files) {
  const auto fail = [](const char* reason) {
    return failure(std::string("a zip archive cannot be made: ") + reason);
  };
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (target == nullptr) throw fail(zip_error_strerror(&error));
  zip_source_keep(target);  // it is read when the archive is closed
  zip_t* archive = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  if (archive == nullptr) {
    zip_source_free(target);
    zip_source_free(target);
    throw fail(zip_error_strerror(&error));
  }
  bool good = true;
  for (const auto& [name, content] : files) {
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) zip_source_free(source);
    constexpr zip_uint16_t kFirstDay = (1 << 5) | 1;  // 1980-01-01, the format's first
    good =
        good && index >= 0 &&
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) == 0 &&
        zip_file_set_dostime(archive, static_cast<zip_uint64_t>(index), 0, kFirstDay, 0) == 0;
  }
  if (!good || zip_close(archive) != 0) {
    const std::string reason = zip_strerror(archive);
    zip_discard(archive);
    zip_source_free(target);
    throw fail(reason.c_str());
  }
  std::string bytes;
  if (zip_source_open(target) == 0) {
    zip_stat_t about;
    zip_stat_init(&about);
    if (zip_source_stat(target, &about) == 0) {
      bytes.resize(about.size);
      if (zip_source_read(target, bytes.data(), bytes.size()) !=
          static_cast<zip_int64_t>(bytes.size())) {
        bytes.clear();
      }
    }
    zip_source_close(target);
  }
  zip_source_free(target);
  if (bytes.empty()) throw fail("it can't be read back");
  return bytes;
}

}  // namespace neutra
