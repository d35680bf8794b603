#include "compiler/source/utf8.hpp"
#include "tests/support/catch.hpp"

using dtj::source::decode_utf8;
using dtj::source::display_width;
using dtj::source::find_ill_formed_utf8;

TEST_CASE("decode_utf8: reads sequences of 1 to 4 bytes", "[unit][source]") {
  CHECK(decode_utf8("a")->value == U'a');
  CHECK(decode_utf8("\xC3\xA9")->value == U'\u00E9');
  CHECK(decode_utf8("\xE2\x82\xAC")->value == U'\u20AC');
  CHECK(decode_utf8("\xF0\x9F\x98\x80")->value == U'\U0001F600');
  CHECK(decode_utf8("\xF0\x9F\x98\x80")->num_bytes == 4);
}

TEST_CASE("decode_utf8: refuses ill-formed bytes", "[unit][source]") {
  for (const char* text : {"", "\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    INFO(text);
    CHECK_FALSE(decode_utf8(text));
  }
}

TEST_CASE("find_ill_formed_utf8: gives the first bad byte", "[unit][source]") {
  CHECK_FALSE(find_ill_formed_utf8("abc \xC3\xA9"));
  CHECK(find_ill_formed_utf8("ab\xC3\xA9\xFFz") == std::optional<std::size_t>(4));
}

TEST_CASE("display_width: wide, narrow and combining characters", "[unit][source]") {
  CHECK(display_width(U'a') == 1);
  CHECK(display_width(U'\u00E9') == 1);
  CHECK(display_width(U'\u4E2D') == 2);
  CHECK(display_width(U'\U0001F600') == 2);
  CHECK(display_width(U'\u0301') == 0);
}
