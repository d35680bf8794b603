#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dtj::lint {

/// A text without its terminal escapes (colours, cursor moves), and the way back to the bytes of the original.
class PlainText {
 public:
  explicit PlainText(std::string_view original);
  std::string_view text() const { return text_; }
  /// Where a span begins and ends in the original.
  std::uint32_t begin_of(std::uint32_t at) const;
  std::uint32_t end_of(std::uint32_t at) const;

 private:
  struct Cut {
    std::uint32_t at = 0;       ///< in the plain text
    std::uint32_t removed = 0;  ///< in all, up to here
  };
  std::string text_;
  std::vector<Cut> cuts_;
};

}  // namespace dtj::lint
