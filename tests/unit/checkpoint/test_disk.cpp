#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "tests/unit/checkpoint/checkpoint_fixture.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

// Files of this process end at `bytes` while the object lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit now{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("prepare_folder: a folder that cannot be is unavailable, by name", "[unit][checkpoint]") {
  const TempDir dir;
  dir.write("file", "x");
  for (const std::string& path : {dir.file("file"), dir.file("file") + "/below", std::string("/proc/dtj")}) {
    const auto status = checkpoint::prepare_folder(path);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::unavailable);
    CHECK_THAT(status.error().message, contains(path));
  }
  CHECK(read_file(dir.file("file")) == "x");
}

TEST_CASE("prepare_folder: a read-only folder is found before training", "[unit][checkpoint]") {
  if (geteuid() == 0) {
    SUCCEED("root may write everywhere");
    return;
  }
  const TempDir dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto status = checkpoint::prepare_folder(dir.path().string());
  std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_all);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::unavailable);
}

TEST_CASE("prepare_folder: one run at a time", "[unit][checkpoint]") {
  const TempDir dir;
  auto first = checkpoint::FolderLock::acquire(dir.path().string(), std::chrono::milliseconds(0));
  REQUIRE(first);
  const auto second = checkpoint::FolderLock::acquire(dir.path().string(), std::chrono::milliseconds(50));
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::unavailable);
  CHECK_THAT(second.error().message, contains("process " + std::to_string(getpid()) + " on "));
  CHECK_THAT(second.error().message, contains(dir.path().string()));
  {
    const auto moved = std::move(first);
    CHECK_FALSE(checkpoint::FolderLock::acquire(dir.path().string(), std::chrono::milliseconds(0)));
  }
  CHECK(checkpoint::FolderLock::acquire(dir.path().string(), std::chrono::milliseconds(0)));
}

TEST_CASE("save: a write that fails leaves the old checkpoints and nothing new", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(4));
  {
    const FileSizeLimit limit(100);
    const auto saved = folder.save(8);
    REQUIRE_FALSE(saved);
    CHECK_THAT(saved.error().to_string(), contains("cannot write") && contains("checkpoint of step 8"));
  }
  CHECK(folder.names() == Names{"latest", "step-00000004"});
  CHECK(folder.newest() == 4);
}

TEST_CASE("save: a full disk is out_of_memory and leaves nothing behind", "[unit][checkpoint]") {
  const TempDir dir;
  if (mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=256k") != 0) {
    WARN("no right to mount a small file system: skipped");
    return;
  }
  std::vector<float> values(40'000);
  const std::vector<checkpoint::TensorView> tensors{
      {"w", DType::f32, {40'000}, reinterpret_cast<const std::byte*>(values.data())}};
  const auto first = checkpoint::save(dir.path().string(), 2, make_manifest(1), tensors, {});
  const auto second = checkpoint::save(dir.path().string(), 2, make_manifest(2), tensors, {});
  const auto found = checkpoint::find_newest(dir.path().string(), {});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    names.push_back(entry.path().filename().string());
  umount(dir.path().c_str());
  CHECK(first);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::out_of_memory);
  CHECK_THAT(second.error().message, contains("No space left"));
  CHECK((found && *found && (*found)->manifest.state.step == 1));
  std::sort(names.begin(), names.end());
  CHECK(names == Names{"latest", "step-00000001"});
}
