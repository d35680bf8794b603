#include "engine/comm/communicator.hpp"

namespace dtj::comm {

Status Communicator::all_reduce(void* data, std::int64_t count, DType dtype) {
  DTJ_TRY_ASSIGN(const Ticket ticket, all_reduce_start(data, count, dtype));
  return wait(ticket);
}

Status Communicator::all_gather(void* data, std::int64_t count, DType dtype) {
  DTJ_TRY_ASSIGN(const Ticket ticket, all_gather_start(data, count, dtype));
  return wait(ticket);
}

Status Communicator::reduce_scatter(void* data, std::int64_t count, DType dtype) {
  DTJ_TRY_ASSIGN(const Ticket ticket, reduce_scatter_start(data, count, dtype));
  return wait(ticket);
}

Status Communicator::broadcast(void* data, std::int64_t count, DType dtype, Rank root) {
  DTJ_TRY_ASSIGN(const Ticket ticket, broadcast_start(data, count, dtype, root));
  return wait(ticket);
}

Status Communicator::all_to_all(const void* send, void* recv, std::int64_t count, DType dtype) {
  DTJ_TRY_ASSIGN(const Ticket ticket, all_to_all_start(send, recv, count, dtype));
  return wait(ticket);
}

}  // namespace dtj::comm
