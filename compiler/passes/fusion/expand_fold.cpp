#include "compiler/passes/fusion/expand_fold.hpp"

#include <gsl/gsl>
#include <optional>
#include <utility>

namespace dtj::passes::fusion_detail {
namespace {

using ir::Builder;
using ir::Op;
using ir::ValueId;
using Ints = std::vector<std::int64_t>;

std::size_t position(std::int64_t axis) {
  return gsl::narrow<std::size_t>(axis);
}

struct FoldedAxis {
  std::int64_t axis = 0, size = 0, stride = 0, extent = 0;
  /// Elements of one residue: those at r, r + stride, r + 2 stride, ...
  std::int64_t num_steps() const { return (extent + stride - 1) / stride; }
};

/// Element i = stride * q + r of an axis lies at place k of window o where stride * o + k = i, so k = r (mod stride) and
/// o = q - (k - r) / stride: for each residue r and each place k a shifted copy of the windows' entries at k.
class Expander {
 public:
  Expander(Builder& build, ValueId x, const Ints& quadruples) : b_(build), x_(x), dtype_(build.type(x).dtype) {
    for (std::size_t i = 0; i < quadruples.size(); i += 4)
      axes_.push_back({quadruples[i], quadruples[i + 1], quadruples[i + 2], quadruples[i + 3]});
    num_dims_ = b_.type(x).shape.size() - axes_.size();
    sum_dtype_ = dtype_ == DType::bf16 || dtype_ == DType::f16 ? DType::f32 : dtype_;
  }

  ValueId run() {
    Ints residues;
    ValueId y = interleave(residues);
    Shape joined = steps_shape();
    Ints range;
    for (const FoldedAxis& axis : axes_) joined[position(axis.axis)] *= axis.stride;
    if (b_.type(y).shape != joined) y = b_.reshape(y, joined);
    Shape wanted = joined;
    for (const FoldedAxis& axis : axes_) wanted[position(axis.axis)] = axis.extent;
    for (const std::int64_t extent : wanted) range.insert(range.end(), {0, extent});
    if (wanted != joined) y = b_.slice(y, range);
    return b_.cast(y, dtype_);
  }

 private:
  /// The shape of one part: as many steps as the longest residue has.
  Shape steps_shape() const {
    Shape shape = b_.type(x_).shape;
    shape.resize(num_dims_);
    for (const FoldedAxis& axis : axes_) shape[position(axis.axis)] = axis.num_steps();
    return shape;
  }

  /// The parts of all residues of the axes from the `residues.size()`-th on, with a dim of the residues behind every
  /// axis whose stride is not 1.
  ValueId interleave(Ints& residues) {
    if (residues.size() == axes_.size()) return spread(part(residues));
    std::vector<ValueId> parts;
    const FoldedAxis& axis = axes_[residues.size()];
    std::int64_t dim = axis.axis + 1;
    for (std::size_t i = 0; i < residues.size(); ++i)
      if (axes_[i].stride != 1) ++dim;
    for (std::int64_t r = 0; r < axis.stride; ++r) {
      residues.push_back(r);
      parts.push_back(interleave(residues));
      residues.pop_back();
    }
    return parts.size() == 1 ? parts[0] : b_.concat(parts, dim);
  }

  ValueId spread(ValueId part) {
    Shape shape = steps_shape();
    for (std::size_t i = axes_.size(); i-- > 0;)
      if (axes_[i].stride != 1) shape.insert(shape.begin() + axes_[i].axis + 1, 1);
    return b_.type(part).shape == shape ? part : b_.reshape(part, shape);
  }

  ValueId part(const Ints& residues) {
    std::optional<ValueId> sum;
    Ints places = residues;
    add_places(0, residues, places, sum);
    return sum ? *sum : b_.constant({sum_dtype_, steps_shape()}, 0.0);
  }

  void add_places(std::size_t i, const Ints& residues, Ints& places, std::optional<ValueId>& sum) {
    if (i == axes_.size()) {
      const ValueId shifted = shift(residues, places);
      sum = sum ? b_.binary(Op::add, *sum, shifted) : shifted;
      return;
    }
    for (std::int64_t k = residues[i]; k < axes_[i].size; k += axes_[i].stride) {
      places[i] = k;
      add_places(i + 1, residues, places, sum);
    }
  }

  /// The entries of all windows at one place, where they lie in the part.
  ValueId shift(const Ints& residues, const Ints& places) {
    const Shape full = b_.type(x_).shape;
    Ints range, widths(2 * num_dims_, 0);
    for (std::size_t dim = 0; dim < num_dims_; ++dim) range.insert(range.end(), {0, full[dim]});
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const FoldedAxis& axis = axes_[i];
      range.insert(range.end(), {places[i], places[i] + 1});
      const std::int64_t before = (places[i] - residues[i]) / axis.stride;
      const std::int64_t after = axis.num_steps() - full[position(axis.axis)] - before;
      widths[2 * position(axis.axis)] = before;
      widths[2 * position(axis.axis) + 1] = after;
    }
    Shape kept(full.begin(), full.begin() + gsl::narrow<std::ptrdiff_t>(num_dims_));
    const ValueId entries = b_.cast(b_.reshape(b_.slice(x_, range), kept), sum_dtype_);
    const bool moves = kept != steps_shape();
    return moves ? b_.pad(entries, widths) : entries;
  }

  Builder& b_;
  ValueId x_;
  DType dtype_, sum_dtype_ = DType::f32;
  std::vector<FoldedAxis> axes_;
  std::size_t num_dims_ = 0;
};

}  // namespace

ir::ValueId expand_fold(ir::Builder& build, ir::ValueId x, const std::vector<std::int64_t>& quadruples) {
  return Expander(build, x, quadruples).run();
}

}  // namespace dtj::passes::fusion_detail
