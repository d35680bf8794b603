#include "compiler/source/source.hpp"
#include "tests/support/catch.hpp"

using dtj::source::FileId;
using dtj::source::Range;
using dtj::source::SourceFile;

TEST_CASE("position: counts lines and byte columns from 1", "[unit][source]") {
  const SourceFile file(FileId{0}, "a.dtj", "ab\ncd\n");
  CHECK(file.num_lines() == 3);
  const auto at = [&](std::uint32_t offset) {
    const auto position = file.position(offset);
    return std::pair(position.line, position.column);
  };
  CHECK(at(0) == std::pair(1, 1));
  CHECK(at(2) == std::pair(1, 3));
  CHECK(at(3) == std::pair(2, 1));
  CHECK(at(6) == std::pair(3, 1));
  CHECK(at(999) == std::pair(3, 1));
}

TEST_CASE("position: the empty file has one line", "[unit][source]") {
  const SourceFile file(FileId{0}, "a.dtj", "");
  CHECK(file.num_lines() == 1);
  CHECK(file.line(1).empty());
  CHECK(file.position(0).column == 1);
}

TEST_CASE("line: leaves out \\n and \\r\\n", "[unit][source]") {
  const SourceFile file(FileId{0}, "a.dtj", "one\r\ntwo\nthree");
  CHECK(file.line(1) == "one");
  CHECK(file.line(2) == "two");
  CHECK(file.line(3) == "three");
}

TEST_CASE("slice: gives the bytes of a range", "[unit][source]") {
  const SourceFile file(FileId{0}, "a.dtj", "abcdef");
  CHECK(file.slice(Range::of(file.id(), 1, 3)) == "bc");
  CHECK(file.slice(Range::of(file.id(), 4, 99)) == "ef");
  CHECK(file.slice(Range::of(file.id(), 3, 3)).empty());
  CHECK(file.slice(Range{}).empty());
}

TEST_CASE("join: spans both ranges, and ignores one that is nowhere", "[unit][source]") {
  const Range a = Range::of(FileId{0}, 2, 4);
  const Range b = Range::of(FileId{0}, 7, 9);
  const Range both = dtj::source::join(a, b);
  CHECK(both.begin == 2);
  CHECK(both.end == 9);
  CHECK(dtj::source::join(Range{}, b).begin == 7);
  CHECK(dtj::source::join(a, Range{}).end == 4);
  CHECK(dtj::source::join(Range{}, Range{}).is_none);
}
