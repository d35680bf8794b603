#include "engine/device/host/bf16_library.hpp"

#include <omp.h>

namespace dtj::device {
namespace {

using dnnl::memory;

/// Row-major [rows, cols] with a leading dimension, seen through a transposition if asked.
memory::desc describe(std::int64_t rows, std::int64_t cols, std::int64_t ld, bool transposed, memory::data_type dtype) {
  const memory::dims strides = transposed ? memory::dims{1, ld} : memory::dims{ld, 1};
  return memory::desc({rows, cols}, dtype, strides);
}

const char* at(const void* base, std::int64_t elements, std::size_t element_size) {
  return static_cast<const char*>(base) + elements * static_cast<std::int64_t>(element_size);
}

}  // namespace

HostGemm::Bf16Library::Bf16Library(int num_workers) {
  workers_.reserve(static_cast<std::size_t>(num_workers));
  for (int worker = 0; worker < num_workers; ++worker) workers_.emplace_back(engine_);
}

bool HostGemm::Bf16Library::is_supported() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx;
}

HostGemm::Bf16Library::Product HostGemm::Bf16Library::make(const plan::GemmStep& step, const Tile& tile,
                                                           DType c_dtype) {
  const auto c_type = c_dtype == DType::f32 ? memory::data_type::f32 : memory::data_type::bf16;
  const auto a_md = describe(tile.m, step.k, step.lda, step.trans_a, memory::data_type::bf16);
  const auto b_md = describe(step.k, tile.n, step.ldb, step.trans_b, memory::data_type::bf16);
  const auto c_md = describe(tile.m, tile.n, step.ldc, false, c_type);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (step.accumulate) {
    dnnl::post_ops ops;
    ops.append_sum(1.0f);
    attr.set_post_ops(ops);
  }
  const dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(a_md, b_md, c_md), attr, engine_);
  Product product{dnnl::matmul(desc),
                  memory(a_md, engine_, DNNL_MEMORY_NONE),
                  memory(b_md, engine_, DNNL_MEMORY_NONE),
                  memory(c_md, engine_, DNNL_MEMORY_NONE),
                  {}};
  product.args = {{DNNL_ARG_SRC, product.a},
                  {DNNL_ARG_WEIGHTS, product.b},
                  {DNNL_ARG_DST, product.c},
                  {DNNL_ARG_SCRATCHPAD, memory(desc.scratchpad_desc(), engine_)}};
  return product;
}

void HostGemm::Bf16Library::run_tile(int worker_index, const plan::GemmStep& step, const Tile& tile, DType c_dtype,
                                     const void* a, const void* b, void* c) {
  ::omp_set_num_threads(1);
  Worker& worker = workers_[static_cast<std::size_t>(worker_index)];
  const Key key{tile.m,   tile.n,       step.k,       step.lda,        step.ldb,
                step.ldc, step.trans_a, step.trans_b, step.accumulate, c_dtype};
  auto found = worker.products.find(key);
  if (found == worker.products.end()) found = worker.products.emplace(key, make(step, tile, c_dtype)).first;
  Product& product = found->second;
  const std::int64_t a_at = tile.batch * step.stride_a + (step.trans_a ? tile.m0 : tile.m0 * step.lda);
  const std::int64_t b_at = tile.batch * step.stride_b + (step.trans_b ? tile.n0 * step.ldb : tile.n0);
  const std::int64_t c_at = tile.batch * step.stride_c + tile.m0 * step.ldc + tile.n0;
  product.a.set_data_handle(const_cast<char*>(at(a, a_at, 2)));
  product.b.set_data_handle(const_cast<char*>(at(b, b_at, 2)));
  product.c.set_data_handle(const_cast<char*>(at(c, c_at, size_of(c_dtype))));
  product.primitive.execute(worker.stream, product.args);
  worker.stream.wait();
}

}  // namespace dtj::device
