#include "engine/comm/group/transfer.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;
using comm::group::Op;
using comm::group::Transfer;

namespace {

Transfer make(Op op, DType dtype, std::int64_t count, std::size_t peers, bool is_staged) {
  Transfer transfer;
  transfer.op = op;
  transfer.dtype = dtype;
  transfer.count = count;
  transfer.peers.resize(peers);
  transfer.is_staged = is_staged;
  return transfer;
}

}  // namespace

TEST_CASE("transfer: memory that peers reach needs one chunk", "[unit][comm]") {
  Transfer transfer = make(Op::all_reduce, DType::f32, 1'000'000, 4, false);
  transfer.set_chunks(1024);
  CHECK(transfer.num_chunks() == 1);
}

TEST_CASE("transfer: staging splits by its size, slices share it", "[unit][comm]") {
  Transfer reduce = make(Op::all_reduce, DType::f32, 1000, 4, true);
  reduce.set_chunks(1024);
  CHECK(reduce.chunk_elements == 256);
  CHECK(reduce.num_chunks() == 4);
  Transfer scatter = make(Op::reduce_scatter, DType::f32, 1000, 4, true);
  scatter.set_chunks(1024);
  CHECK(scatter.chunk_elements == 64);
  CHECK(scatter.num_chunks() == 16);
}

TEST_CASE("transfer: nothing to move is one empty chunk", "[unit][comm]") {
  for (const bool is_staged : {false, true}) {
    Transfer transfer = make(Op::all_gather, DType::bf16, 0, 3, is_staged);
    transfer.set_chunks(1024);
    CHECK(transfer.num_chunks() == 1);
  }
}
