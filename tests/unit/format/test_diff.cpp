#include "compiler/format/format.hpp"
#include "tests/support/catch.hpp"

using dtj::format::unified_diff;

TEST_CASE("unified_diff: nothing for equal texts", "[unit][format]") {
  CHECK(unified_diff("a", "", "").empty());
  CHECK(unified_diff("a", "x\ny\n", "x\ny\n").empty());
}

TEST_CASE("unified_diff: a changed line with three lines around it", "[unit][format]") {
  CHECK(unified_diff("a.dtj", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n") ==
        "--- a.dtj\n+++ a.dtj\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST_CASE("unified_diff: far changes have hunks of their own, near ones share one", "[unit][format]") {
  std::string before, after, near;
  for (int i = 1; i <= 30; ++i) {
    before += std::to_string(i) + "\n";
    if (i != 2 && i != 29) after += std::to_string(i) + "\n";
    if (i != 10 && i != 16) near += std::to_string(i) + "\n";
  }
  const std::string far_diff = unified_diff("a", before, after);
  CHECK(far_diff == "--- a\n+++ a\n@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n@@ -26,5 +25,4 @@\n 26\n 27\n 28\n-29\n 30\n");
  const std::string near_diff = unified_diff("a", before, near);
  CHECK(near_diff.find("@@ -7,13 +7,11 @@") != std::string::npos);
  CHECK(near_diff.find("@@", near_diff.find("@@\n") + 3) == std::string::npos);
}

TEST_CASE("unified_diff: texts that begin or end with nothing", "[unit][format]") {
  CHECK(unified_diff("a", "", "x\n") == "--- a\n+++ a\n@@ -0,0 +1,1 @@\n+x\n");
  CHECK(unified_diff("a", "x\n", "") == "--- a\n+++ a\n@@ -1,1 +0,0 @@\n-x\n");
  CHECK(unified_diff("a", "x", "x\n") == "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n");
}
