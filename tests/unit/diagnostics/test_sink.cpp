#include "compiler/diagnostics/diagnostics.hpp"
#include "tests/support/catch.hpp"

using dtj::diag::Diagnostic;
using dtj::diag::Kind;
using dtj::diag::Sink;
using dtj::source::FileId;
using dtj::source::Range;

TEST_CASE("sink: drops a second diagnostic of one kind at one range", "[unit][diagnostics]") {
  Sink sink;
  const Range range = Range::of(FileId{0}, 1, 2);
  sink.report({Kind::wrong_type, range, "first"});
  sink.report({Kind::wrong_type, range, "second"}).help("lost with it");
  sink.report({Kind::wrong_unit, range, "another kind"});
  sink.report({Kind::wrong_type, Range::of(FileId{0}, 1, 3), "another range"});
  REQUIRE(sink.num_errors() == 3);
  CHECK(sink.sorted().front().message == "first");
  CHECK(sink.sorted().front().helps.empty());
}

TEST_CASE("sink: without a range the message tells causes apart", "[unit][diagnostics]") {
  Sink sink;
  sink.report({Kind::unknown_name, {}, "a"});
  sink.report({Kind::unknown_name, {}, "b"});
  sink.report({Kind::unknown_name, {}, "a"});
  CHECK(sink.num_errors() == 2);
}

TEST_CASE("sink: sorts by file and position, those without a range last", "[unit][diagnostics]") {
  Sink sink;
  sink.report({Kind::wrong_type, {}, "nowhere"});
  sink.report({Kind::wrong_type, Range::of(FileId{1}, 0, 1), "other file"});
  sink.report({Kind::wrong_type, Range::of(FileId{0}, 9, 10), "late"});
  sink.report({Kind::wrong_type, Range::of(FileId{0}, 2, 3), "early"});
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : sink.sorted()) messages.push_back(diagnostic.message);
  CHECK(messages == std::vector<std::string>{"early", "late", "other file", "nowhere"});
}

TEST_CASE("sink: notes are no errors", "[unit][diagnostics]") {
  Sink sink;
  CHECK_FALSE(sink.has_errors());
  sink.report({Kind::unbound_placeholder, Range::of(FileId{0}, 0, 1), "note"});
  CHECK_FALSE(sink.has_errors());
  CHECK(sink.sorted().size() == 1);
  sink.report({Kind::wrong_type, {}, "error"});
  CHECK(sink.has_errors());
}
