#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/base/philox.hpp"
#include "engine/device/device.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;

namespace {

/// A matrix operand in its stored dtype and as exact f64 values.
struct Operand {
  DType dtype;
  std::vector<std::byte> bytes;

  Operand(DType type, std::int64_t elements, std::uint64_t stream)
      : dtype(type), bytes(static_cast<std::size_t>(elements) * size_of(type)) {
    const PhiloxStream random(1, stream);
    for (std::int64_t i = 0; i < elements; ++i) set(i, random.normal(static_cast<std::uint64_t>(i)));
  }
  void set(std::int64_t i, float value) {
    if (dtype == DType::f32) {
      std::memcpy(&bytes[static_cast<std::size_t>(i) * 4], &value, 4);
    } else {
      const std::uint16_t narrow = f32_to_bf16(value);
      std::memcpy(&bytes[static_cast<std::size_t>(i) * 2], &narrow, 2);
    }
  }
  float get(std::int64_t i) const {
    if (dtype == DType::f32) {
      float value = 0;
      std::memcpy(&value, &bytes[static_cast<std::size_t>(i) * 4], 4);
      return value;
    }
    std::uint16_t narrow = 0;
    std::memcpy(&narrow, &bytes[static_cast<std::size_t>(i) * 2], 2);
    return bf16_to_f32(narrow);
  }
};

struct Problem {
  plan::GemmStep step;
  DType in = DType::f32, out = DType::f32;
};

/// Leading dimensions and strides with gaps, to catch code that assumes dense operands.
Problem make_problem(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, int flags, DType in,
                     DType out) {
  Problem problem{{}, in, out};
  plan::GemmStep& step = problem.step;
  step.batch = batch, step.m = m, step.n = n, step.k = k;
  step.trans_a = (flags & 1) != 0;
  step.trans_b = (flags & 2) != 0;
  step.accumulate = (flags & 4) != 0;
  const std::int64_t gap = (flags & 8) != 0 ? 3 : 0;
  step.lda = (step.trans_a ? m : k) + gap;
  step.ldb = (step.trans_b ? k : n) + gap;
  step.ldc = n + gap;
  step.stride_a = (step.trans_a ? k : m) * step.lda + gap;
  step.stride_b = (flags & 16) != 0 ? 0 : (step.trans_b ? n : k) * step.ldb + gap;
  step.stride_c = m * step.ldc + gap;
  return problem;
}

std::int64_t extent(std::int64_t batch, std::int64_t stride, std::int64_t rows, std::int64_t ld) {
  return batch * stride + rows * ld + 64;
}

struct Result3 {
  Operand a, b, before, c;
};

Result3 run(device::Device& device, const Problem& problem) {
  const plan::GemmStep& s = problem.step;
  Result3 r{{problem.in, extent(s.batch, s.stride_a, s.trans_a ? s.k : s.m, s.lda), 1},
            {problem.in, extent(s.batch, s.stride_b, s.trans_b ? s.n : s.k, s.ldb), 2},
            {problem.out, extent(s.batch, s.stride_c, s.m, s.ldc), 3},
            {problem.out, extent(s.batch, s.stride_c, s.m, s.ldc), 3}};
  const auto status = device.gemm(s, problem.in, problem.out, r.a.bytes.data(), r.b.bytes.data(), r.c.bytes.data());
  REQUIRE(status);
  return r;
}

/// Against the definition in f64; everything outside the result must be untouched.
void check(const Problem& problem, const Result3& r) {
  const plan::GemmStep& s = problem.step;
  std::vector<bool> written(r.c.bytes.size() / size_of(problem.out), false);
  double worst = 0;
  for (std::int64_t batch = 0; batch < s.batch; ++batch) {
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.n; ++j) {
        double sum = 0, size = 1;
        for (std::int64_t l = 0; l < s.k; ++l) {
          const double a = r.a.get(batch * s.stride_a + (s.trans_a ? l * s.lda + i : i * s.lda + l));
          const double b = r.b.get(batch * s.stride_b + (s.trans_b ? j * s.ldb + l : l * s.ldb + j));
          sum += a * b;
          size += std::abs(a * b);
        }
        const std::int64_t at = batch * s.stride_c + i * s.ldc + j;
        if (s.accumulate) sum += r.before.get(at);
        written[static_cast<std::size_t>(at)] = true;
        worst = std::max(worst, std::abs(r.c.get(at) - sum) / size);
      }
    }
  }
  CHECK(worst < (problem.out == DType::bf16 ? 0x1p-8 : 1e-6));
  int spoiled = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!written[i]) spoiled += r.c.get(static_cast<std::int64_t>(i)) != r.before.get(static_cast<std::int64_t>(i));
  }
  CHECK(spoiled == 0);
}

std::unique_ptr<device::Device> host(int threads) {
  auto made = device::make_host_device({threads, {}});
  REQUIRE(made);
  return std::move(*made);
}

struct Types {
  DType in, out;
};
constexpr Types all_types[] = {
    {DType::f32, DType::f32}, {DType::bf16, DType::f32}, {DType::bf16, DType::bf16}, {DType::f32, DType::bf16}};

}  // namespace

TEST_CASE("gemm: transpositions, accumulation, gaps, repeated operands", "[unit][device]") {
  const auto device = host(2);
  for (const Types types : all_types) {
    for (int flags = 0; flags < 32; ++flags) {
      INFO("flags " << flags << " in " << to_string(types.in) << " out " << to_string(types.out));
      const Problem problem = make_problem(3, 7, 5, 9, flags, types.in, types.out);
      check(problem, run(*device, problem));
    }
  }
}

TEST_CASE("gemm: sizes 0, 1, odd and larger than a tile", "[unit][device]") {
  const auto device = host(3);
  for (const Types types : all_types) {
    for (const auto& [batch, m, n, k] : std::vector<std::array<std::int64_t, 4>>{{1, 0, 5, 3},
                                                                                 {1, 4, 0, 3},
                                                                                 {0, 4, 5, 3},
                                                                                 {1, 4, 5, 0},
                                                                                 {2, 4, 5, 0},
                                                                                 {1, 1, 1, 1},
                                                                                 {1, 1, 300, 17},
                                                                                 {1, 300, 1, 17},
                                                                                 {1, 401, 33, 12},
                                                                                 {1, 33, 401, 12},
                                                                                 {20, 16, 8, 8}}) {
      for (const int flags : {0, 4, 8 + 2}) {
        INFO(batch << " " << m << " " << n << " " << k << " flags " << flags);
        const Problem problem = make_problem(batch, m, n, k, flags, types.in, types.out);
        check(problem, run(*device, problem));
      }
    }
  }
}

TEST_CASE("gemm: the number of threads does not change the bits", "[unit][device]") {
  const auto one = host(1);
  const auto four = host(4);
  for (const Types types : all_types) {
    for (const auto& [batch, m, n, k] :
         std::vector<std::array<std::int64_t, 4>>{{1, 500, 260, 70}, {1, 260, 900, 33}, {6, 130, 64, 64}}) {
      const Problem problem = make_problem(batch, m, n, k, 2, types.in, types.out);
      CHECK(run(*one, problem).c.bytes == run(*four, problem).c.bytes);
    }
  }
}

TEST_CASE("gemm: unknown dtypes are unimplemented", "[unit][device]") {
  const auto device = host(1);
  float x = 0;
  CHECK(device->gemm({}, DType::f16, DType::f32, &x, &x, &x).error().code == ErrorCode::unimplemented);
  CHECK(device->gemm({}, DType::f32, DType::f64, &x, &x, &x).error().code == ErrorCode::unimplemented);
}
