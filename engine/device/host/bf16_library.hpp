#pragma once

#include <dnnl.hpp>

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/device/host/gemm.hpp"
#include "engine/device/host/tiles.hpp"

namespace dtj::device {

/// bf16 products by oneDNN's matmul primitive. Every worker keeps its own primitives, so that no two threads share a
/// scratchpad. Throws dnnl::error.
class HostGemm::Bf16Library {
 public:
  explicit Bf16Library(int num_workers);

  /// Whether this CPU multiplies bf16 natively (AMX or AVX512-BF16).
  static bool is_supported();

  /// One output tile on one worker; `a`, `b`, `c` are the step's operands.
  void run_tile(int worker, const plan::GemmStep& step, const Tile& tile, DType c_dtype, const void* a, const void* b,
                void* c);

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool, bool,
                         bool, DType>;
  struct Product {
    dnnl::matmul primitive;
    dnnl::memory a, b, c;
    std::unordered_map<int, dnnl::memory> args;
  };
  struct Worker {
    explicit Worker(const dnnl::engine& engine) : stream(engine) {}
    dnnl::stream stream;
    std::map<Key, Product> products;
  };

  Product make(const plan::GemmStep& step, const Tile& tile, DType c_dtype);

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  std::vector<Worker> workers_;
};

}  // namespace dtj::device
