#include "base/zip_file.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"

namespace neutra {

struct ZipFile::Archive {
  std::string file;
  zip_t* zip = nullptr;
  ~Archive() {
    if (zip != nullptr) zip_discard(zip);
  }
};

ZipFile::ZipFile(const std::filesystem::path& path, std::string_view what)
    : archive_(new Archive{path.string()}) {
  require_no_pipe(path, what);
  int code = 0;
  archive_->zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive_->zip != nullptr) {
    std::set<std::string_view> names;
    const zip_int64_t count = zip_get_num_entries(archive_->zip, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      const char* name = zip_get_name(archive_->zip, static_cast<zip_uint64_t>(i), 0);
      if (name == nullptr || names.insert(name).second) continue;
      throw input_error(describe(archive_->file, name, "two members of this name", "one"));
    }
    return;
  }
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string words = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (code == ZIP_ER_NOZIP && start_of_file(path, kZipStart.size()) == kZipStart) {
    throw input_error(describe(archive_->file, "",
                               "a zip archive that is cut off: the list of its members, with which "
                               "it ends, is missing",
                               std::string(what) + " that is whole: copy or save it again"));
  }
  throw input_error(describe(archive_->file, "", "what is no zip file (" + words + ")", what));
}

ZipFile::ZipFile(ZipFile&&) noexcept = default;
ZipFile::~ZipFile() = default;

bool ZipFile::has(const std::string& member) const {
  return zip_name_locate(archive_->zip, member.c_str(), 0) >= 0;
}

bool ZipFile::has_end(std::string_view end) const {
  const zip_int64_t count = zip_get_num_entries(archive_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive_->zip, static_cast<zip_uint64_t>(i), 0);
    if (name != nullptr && std::string_view(name).ends_with(end)) return true;
  }
  return false;
}

ZipFile::Stream ZipFile::open(const std::string& member) const {
  const auto fail = [file = archive_->file, member](const std::string& found,
                                                    const std::string& allowed) {
    throw input_error(describe(file, member, found, allowed));
  };
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat(archive_->zip, member.c_str(), 0, &stat) != 0) fail("no such member", "");
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD |
                                   ZIP_STAT_ENCRYPTION_METHOD | ZIP_STAT_INDEX;
  if ((stat.valid & kNeeded) != kNeeded) fail("an incomplete entry", "sizes and methods");
  if (stat.encryption_method != ZIP_EM_NONE) fail("an encrypted member", "one that is not");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    fail("compression method " + std::to_string(stat.comp_method), "0 (stored), 8 (deflated)");
  }
  const std::shared_ptr<zip_file_t> entry(zip_fopen_index(archive_->zip, stat.index, 0),
                                          [](zip_file_t* f) { f != nullptr ? zip_fclose(f) : 0; });
  if (!entry) fail("what can't be read (" + std::string(zip_strerror(archive_->zip)) + ")", "");
  const std::uint64_t inflation = stat.comp_method == ZIP_CM_STORE ? 1 : kMaxInflation;
  const std::uint64_t capacity =
      stat.comp_size > stat.size / inflation ? stat.size : stat.comp_size * inflation;
  return {capacity, [entry, fail](std::span<char> bytes) {
            std::size_t done = 0;
            while (done < bytes.size()) {
              const zip_int64_t got =
                  zip_fread(entry.get(), bytes.data() + done, bytes.size() - done);
              if (got < 0)
                fail("damaged data (" + std::string(zip_file_strerror(entry.get())) + ")", "");
              if (got == 0) break;
              done += static_cast<std::size_t>(got);
            }
            return done;
          }};
}

std::string ZipFile::read(const std::string& member, std::uint64_t limit) const {
  const Stream stream = open(member);
  std::string text;
  std::array<char, 1 << 16> block;
  for (std::size_t got = block.size(); got == block.size();) {
    got = stream.read(block);
    text.append(block.data(), got);
    if (text.size() > limit) {
      throw input_error(describe(archive_->file, member, "more than " + size_text(limit),
                                 "at most " + size_text(limit)));
    }
  }
  return text;
}

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
