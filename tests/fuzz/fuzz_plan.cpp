#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/plan/print.hpp"
#include "engine/plan/serialize.hpp"

// The plan loader: any bytes give a plan or an error, and a plan that loads can be printed and saved again unchanged.

namespace {

void use(std::string_view bytes) {
  const auto plan = dtj::plan::load(bytes);
  if (!plan) return;
  const std::string text = dtj::plan::listing(*plan) + dtj::plan::summary_text(*plan) + dtj::plan::summary_json(*plan);
  const bool is_stable = !text.empty() && dtj::plan::save(*plan) == bytes;
  if (!is_stable) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  use(bytes);
  // Behind a header that fits: the way past the checksum.
  use(dtj::plan::seal(bytes));
  return 0;
}
