#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

// fuzz_x SECONDS SEED_FILE...        mutates the seeds; the same inputs in the same order in every run. The number of the
//                                    input at work stands in the file fuzz_x.input, so that a crash can be replayed.
// fuzz_x --input N SEED_FILE...      writes input number N to stdout
// fuzz_x --replay FILE...            runs the files as they are

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// No text may take longer; sanitizers cost a factor of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double seconds_per_kib = 1.0;
#else
constexpr double seconds_per_kib = 0.1;
#endif

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path);
    std::exit(64);
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  std::string next() {
    std::string text = seeds_[pick(seeds_.size())];
    if (pick(3) == 0) text = slice(text);
    const std::size_t num_edits = 1 + pick(8);
    for (std::size_t i = 0; i < num_edits; ++i) edit(text);
    return text;
  }

 private:
  std::size_t pick(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  std::string slice(const std::string& text) {
    const std::size_t begin = pick(text.size());
    return text.substr(begin, 1 + pick(std::min<std::size_t>(text.size() - begin, 400)));
  }

  void edit(std::string& text) {
    const std::size_t at = pick(text.size() + 1);
    switch (pick(7)) {
      case 0: text.erase(at, 1 + pick(20)); break;
      case 1: text.insert(at, 1, static_cast<char>(pick(256))); break;
      case 2: text.insert(at, slice(seeds_[pick(seeds_.size())])); break;
      case 3: text.insert(at, signs_[pick(std::size(signs_))]); break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(pick(256));
        break;
      case 5: text.erase(at); break;
      case 6: {
        // Many of a piece: deep nesting and long chains.
        const std::string piece = pick(2) == 0 ? signs_[pick(std::size(signs_))] : text.substr(at, 1 + pick(8));
        const std::size_t count = pick(4) == 0 ? pick(3000) : pick(50);
        std::string pieces;
        for (std::size_t i = 0; i < count; ++i) pieces += piece;
        text.insert(at, pieces);
        break;
      }
    }
    constexpr std::size_t max_size = 200'000;
    if (text.size() > max_size) text.resize(max_size);
  }

  static constexpr const char* signs_[] = {
      "{",      "}",     "(",        ")",      "[",    "]",     ";",     ",",    ":",       ".",     "..",     "...",
      "->",     "|>",    "?",        "!",      "=",    "+=",    "==",    "<",    ">",       "&&",    "**",     "-",
      "@",      "if ",   " else ",   " as ",   "not ", " and ", "let ",  "for ", " in ",    "fn ",   "module ", "job ",
      "param ", "sub ",  "import ",  "test ",  "\"",   "\\",    "/*",    "//",   "\n",      "\t",    "1e9999", "0x",
      "30 min", "16GiB", "<name>",   "'",      "#",    "0..",   "none",  "self", "[:, none]", "{a = 1}", "dtj 1;\n", "\xE2\x80\x9C",
      "@a(b)",  "(1,)",  "!(dp)",    "if a {", "x.",   "f(",    "99999999999999999999",  "\r\n"};
  std::vector<std::string> seeds_;
  std::minstd_rand random_{1};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s SECONDS SEED_FILE...\n", argv[0]);
    return 64;
  }
  const std::string mode = argv[1];
  const bool is_input = mode == "--input";
  std::vector<std::string> seeds;
  for (int i = is_input ? 3 : 2; i < argc; ++i) seeds.push_back(read_file(argv[i]));
  for (const std::string& seed : seeds) {
    if (!is_input) run(seed);
  }
  if (mode == "--replay") return 0;

  Mutator mutator(seeds);
  if (is_input) {
    const long number = std::strtol(argv[2], nullptr, 10);
    for (long i = 1; i < number; ++i) mutator.next();
    const std::string input = mutator.next();
    std::fwrite(input.data(), 1, input.size(), stdout);
    return 0;
  }
  using Clock = std::chrono::steady_clock;
  const std::string number_path = std::string(argv[0]) + ".input";
  const auto end = Clock::now() + std::chrono::seconds(std::strtol(mode.c_str(), nullptr, 10));
  long number = 0, num_slow = 0;
  while (Clock::now() < end) {
    const std::string input = mutator.next();
    ++number;
    std::ofstream(number_path, std::ios::trunc) << number << '\n';
    const std::clock_t start = std::clock();  // of this process: what else runs does not count
    run(input);
    const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    if (seconds <= seconds_per_kib * (1.0 + double(input.size()) / 1024)) continue;
    std::fprintf(stderr, "input %ld of %zu bytes took %.1f s\n", number, input.size(), seconds);
    ++num_slow;
  }
  std::fprintf(stderr, "%ld inputs\n", number);
  return num_slow == 0 ? 0 : 1;
}
