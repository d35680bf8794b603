#include <set>

#include "engine/data/text_chars.hpp"
#include "tests/support/contains.hpp"
#include "tests/unit/data/data_specs.hpp"

namespace {

using namespace dtj;
using namespace dtj::test;

std::string decode_error(std::string_view text, std::int64_t vocab = 0) {
  std::vector<std::int32_t> tokens;
  const auto status = data::decode_utf8(text, "f.txt", vocab, tokens);
  return status ? "" : status.error().message;
}

}  // namespace

TEST_CASE("text_chars: tokens are code points and targets are shifted by one", "[unit][data]") {
  const TempDir dir;
  const DataSpec spec = token_spec(SourceKind::text_chars, dir.write("a.txt", "abcdefghij"), 3);
  const auto dataset = data::open_dataset(spec);
  REQUIRE(dataset);
  CHECK((*dataset)->num_samples() == 3);
  const auto sample = read_tokens(**dataset, 3, {5, 2});
  REQUIRE(sample);
  CHECK(sample->tokens == std::vector<std::int32_t>{'g', 'h', 'i'});
  CHECK(sample->targets == std::vector<std::int32_t>{'h', 'i', 'j'});
}

TEST_CASE("text_chars: shuffled epochs cut the text at other offsets, always in range", "[unit][data]") {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 103; ++i) text += char(i);
  DataSpec spec = token_spec(SourceKind::text_chars, dir.write("a.txt", text), 8);
  spec.sampler = {SamplerKind::shuffle, 3, LastBatch::drop};
  const auto dataset = data::open_dataset(spec);
  REQUIRE(dataset);
  CHECK((*dataset)->num_samples() == (103 - 1 - 7) / 8);
  std::set<std::int32_t> offsets;
  for (std::int64_t epoch = 0; epoch < 200; ++epoch) {
    const auto first = read_tokens(**dataset, 8, {epoch, 0});
    const auto last = read_tokens(**dataset, 8, {epoch, (*dataset)->num_samples() - 1});
    REQUIRE((first && last));
    offsets.insert(first->tokens[0]);
    CHECK(last->tokens[0] == first->tokens[0] + 8 * ((*dataset)->num_samples() - 1));
    CHECK(last->targets[7] == last->tokens[0] + 8);
    CHECK(last->targets[7] < 103);
  }
  CHECK(offsets.size() == 8);
  CHECK(*offsets.rbegin() == 7);
}

TEST_CASE("text_chars: a folder is read in the order of names, each file once", "[unit][data]") {
  const TempDir dir;
  dir.write("b", "2222");
  dir.write("a", "1111");
  dir.write("sub/c", "9999");
  std::filesystem::create_symlink("b", dir.path() / "z");     // the same file again
  std::filesystem::create_symlink("gone", dir.path() / "y");  // dangling
  const TempDir elsewhere;
  std::filesystem::create_symlink(elsewhere.write("x", "3333"), dir.path() / "c");
  const auto dataset = data::open_dataset(token_spec(SourceKind::text_chars, dir.path().string(), 11));
  REQUIRE(dataset);
  const auto sample = read_tokens(**dataset, 11, {0, 0});
  REQUIRE(sample);
  const std::string expected = "111122223333";
  CHECK(std::string(sample->tokens.begin(), sample->tokens.end()) == expected.substr(0, 11));
  CHECK((*dataset)->num_samples() == 1);
}

TEST_CASE("text_chars: the splits share no character and miss none", "[unit][data]") {
  const TempDir dir;
  DataSpec spec = token_spec(SourceKind::text_chars, dir.write("a", "0123456789abcdefghij"), 1);
  spec.source.train_fraction = 0.75;
  const auto train = data::open_dataset(spec);
  spec.source.split = "valid";
  const auto valid = data::open_dataset(spec);
  REQUIRE((train && valid));
  CHECK((*train)->num_samples() == 14);
  CHECK((*valid)->num_samples() == 4);
  CHECK(read_tokens(**train, 1, {0, 13})->targets[0] == 'e');
  CHECK(read_tokens(**valid, 1, {0, 0})->tokens[0] == 'f');
}

TEST_CASE("text_chars: decodes all lengths of UTF-8", "[unit][data]") {
  std::vector<std::int32_t> tokens;
  REQUIRE(data::decode_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "f.txt", 0, tokens));
  CHECK(tokens == std::vector<std::int32_t>{'a', 0xE9, 0x20AC, 0x1F600});
}

TEST_CASE("text_chars: invalid UTF-8 is named with file, line and byte", "[unit][data]") {
  CHECK_THAT(decode_error("ok\nno\xFF"), contains("f.txt:2: byte 5, 0xff, is not valid UTF-8"));
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80", "\xED\xA0\x80", "\xE2\x82",
                          "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
    CHECK_THAT(decode_error(bad), contains("f.txt:1: byte 0"));
  }
}

TEST_CASE("text_chars: a character outside the vocabulary is named with what to do", "[unit][data]") {
  CHECK_THAT(decode_error("one\n\ncaf\xC3\xA9", 128),
             contains("f.txt:3: byte 8: the character `\xC3\xA9` (U+00E9 = 233)") && contains("vocabulary of 128") &&
                 contains("at least 234"));
  CHECK(decode_error("caf\xC3\xA9", 234).empty());
}

TEST_CASE("text_chars: a missing, empty or short text is an error", "[unit][data]") {
  const TempDir dir;
  CHECK_THAT(open_error(token_spec(SourceKind::text_chars, dir.file("none.txt"), 4)),
             contains("not_found") && contains("none.txt"));
  CHECK_THAT(open_error(token_spec(SourceKind::text_chars, dir.path().string(), 4)), contains("no regular file"));
  CHECK_THAT(open_error(token_spec(SourceKind::text_chars, dir.write("empty", ""), 4)),
             contains("has 0 characters, and samples of 4 tokens need 5"));
  DataSpec spec = token_spec(SourceKind::text_chars, dir.write("short", "12345678"), 5);
  CHECK(open_error(spec).empty());
  spec.sampler.kind = SamplerKind::shuffle;
  CHECK_THAT(open_error(spec), contains("has 8 characters, and samples of 5 tokens need 10"));
  spec.source.split = "test";
  CHECK_THAT(open_error(spec), contains("split `test`"));
}
