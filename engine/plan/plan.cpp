#include "engine/plan/plan.hpp"

namespace dtj::plan {

std::string_view to_string(Arena arena) {
  switch (arena) {
    case Arena::persistent:
      return "persistent";
    case Arena::gradient:
      return "gradient";
    case Arena::batch:
      return "batch";
    case Arena::transient:
      return "transient";
    case Arena::constant:
      return "constant";
  }
  return "unknown";
}

std::string_view to_string(BufferClass cls) {
  switch (cls) {
    case BufferClass::param:
      return "param";
    case BufferClass::module_buffer:
      return "module_buffer";
    case BufferClass::optimizer:
      return "optimizer";
    case BufferClass::gradient:
      return "gradient";
    case BufferClass::metric:
      return "metric";
    case BufferClass::batch:
      return "batch";
    case BufferClass::activation:
      return "activation";
    case BufferClass::scratch:
      return "scratch";
    case BufferClass::constant:
      return "constant";
  }
  return "unknown";
}

std::string_view to_string(BuiltinOp op) {
  switch (op) {
    case BuiltinOp::gather_rows:
      return "gather_rows";
    case BuiltinOp::scatter_add_rows:
      return "scatter_add_rows";
    case BuiltinOp::argmax_last:
      return "argmax_last";
  }
  return "unknown";
}

}  // namespace dtj::plan
