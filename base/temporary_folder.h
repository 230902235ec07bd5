#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/descriptor.h"
#include "base/last_act.h"

namespace neutra {

/// A folder with a name of its own that goes with the object, also where the process is told to
/// end.
class TemporaryFolder {
 public:
  /// NAME-XXXXXX in the system's temporary folder (TMPDIR). Throws input_error where none can be
  /// made.
  explicit TemporaryFolder(const std::string& name);
  /// NAME-XXXXXX in `parent`, which is rid of those of this name whose processes were killed.
  /// Throws input_error where none can be made.
  TemporaryFolder(const std::filesystem::path& parent, const std::string& name);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }
  /// Has `fill` write into it and puts it, readable for all, in the place of `folder`, which may be
  /// there: that one goes when this one is in its place, and stays where that fails. Both in one
  /// file system. Errors name files by where they would have been in `folder`.
  void become(const std::filesystem::path& folder, const std::function<void()>& fill);

 private:
  void replace(const std::filesystem::path& folder);
  std::filesystem::path path_;
  LastAct last_;     ///< nothing half made stays
  Descriptor lock_;  ///< says to other processes that the folder is in use
};

}  // namespace neutra
