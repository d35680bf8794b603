#pragma once

#include <antlr4-runtime.h>

#include <string>
#include <string_view>

namespace dtj::parse {

/// A text as the lexer sees it: one symbol a byte, so that all token indices are byte offsets. Non-ASCII text occurs in
/// strings and comments only, where the grammar takes any byte. The text must outlive the stream.
class ByteStream final : public antlr4::CharStream {
 public:
  explicit ByteStream(std::string_view text) : text_(text) {}

  void consume() override;
  std::size_t LA(ssize_t i) override;
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override;
  std::size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval& interval) override;
  std::string toString() const override { return std::string(text_); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace dtj::parse
