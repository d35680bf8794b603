#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>

#include "engine/plan/serialize.hpp"
#include "tests/unit/plan/sample_plan.hpp"

// fuzz_plan SECONDS [SEED]: mutates a real plan, field by field and byte by byte. The same inputs in every run with the
// same seed.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    const std::size_t num_edits = 1 + pick(4);
    for (std::size_t i = 0; i < num_edits && !text.empty(); ++i) edit(text);
    return text;
  }

 private:
  std::size_t pick(std::size_t bound) { return random_() % bound; }

  void edit(std::string& text) {
    const std::size_t at = pick(text.size());
    switch (pick(6)) {
      case 0:
        text[at] = static_cast<char>(pick(256));
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << pick(8)));
        break;
      case 2:
        text.resize(at);
        break;
      case 3:
        text.insert(at, 1 + pick(9), static_cast<char>(pick(256)));
        break;
      case 4:
        text.erase(at, 1 + pick(9));
        break;
      case 5: {
        // Whole numbers at the edges: counts, offsets, extents.
        constexpr std::uint64_t edges[] = {
            0, 1, 63, 64, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};
        const std::uint64_t edge = edges[pick(std::size(edges))];
        const std::size_t width = pick(2) == 0 ? 8 : 4;
        if (at + width <= text.size()) std::memcpy(&text[at], &edge, width);
        break;
      }
    }
  }

  std::mt19937 random_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s SECONDS [SEED]\n", argv[0]);
    return 64;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::strtol(argv[1], nullptr, 10));
  Mutator mutator(argc > 2 ? static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)) : 1);
  const std::string whole = dtj::plan::save(dtj::test::sample_plan());
  constexpr std::size_t header = 32;
  long number = 0;
  for (; std::chrono::steady_clock::now() < end; ++number) {
    // Mostly without the header: the target puts a right one before it.
    const std::string input = mutator.mutate(number % 8 == 0 ? whole : whole.substr(header));
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  }
  std::fprintf(stderr, "%ld inputs\n", number);
  return 0;
}
