#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace neutra {

/// Deflate's greatest ratio of output to input (zlib's technical notes).
constexpr std::uint64_t kMaxInflation = 1032;

/// A zip file for reading: members that are stored or deflated. Every failure is an input_error
/// that names the file and the member.
class ZipFile {
 public:
  /// `what` ("an .npz file") is what is allowed where there is no zip file. Refuses two members of
  /// one name: readers differ in which they take.
  ZipFile(const std::filesystem::path& path, std::string_view what);
  ZipFile(ZipFile&&) noexcept;
  ~ZipFile();

  bool has(const std::string& member) const;
  /// Is there a member whose name ends so?
  bool has_end(std::string_view end) const;

  /// The bytes of a member in order.
  struct Stream {
    std::uint64_t capacity = 0;  ///< there can't be more, whatever the member says of itself
    /// Fills the span; returns fewer bytes at the end only.
    std::function<std::size_t(std::span<char>)> read;
  };
  /// Refuses what is missing, encrypted, packed in another way or damaged. The stream must not
  /// outlive the file.
  Stream open(const std::string& member) const;
  /// All of a member; refuses more than `limit` bytes.
  std::string read(const std::string& member, std::uint64_t limit) const;

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

/// The bytes of a zip archive of files (name, content), stored as they are, all of the year 1980:
/// equal contents give equal archives. Throws failure() where zip's library does.
std::string zip_archive(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace neutra
