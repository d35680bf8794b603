#pragma once

#include <string>

#include "engine/base/result.hpp"

namespace dtj::api {

/// Where a launcher and its ranks leave files for each other. Move-only.
class RunFolder {
 public:
  /// `wanted`: the embedder's own folder, which stays. "": a new one among the temporary files, which is removed with the
  /// object; first, those that launchers of this user left there when they were killed are removed.
  /// Errors: unavailable.
  static Result<RunFolder> make(const std::string& wanted);
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&& other) noexcept;
  ~RunFolder();

  const std::string& path() const { return path_; }

 private:
  RunFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_ = -1;  ///< held as long as the folder is in use; -1: the folder is not ours
};

}  // namespace dtj::api
