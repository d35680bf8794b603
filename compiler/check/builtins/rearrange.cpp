#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

// rearrange(x, "b t (s h d) -> s b h t d", s = 3, h = heads): names of dims in a new order; parentheses split a dim on
// the left and join dims on the right.

namespace dtj::check {

namespace {

struct NamedDim {
  std::string name;
  std::size_t offset = 0;
};
/// One dim of the operand or of the result: a name, several in parentheses, or none for `1`.
struct Group {
  std::vector<NamedDim> names;
  bool is_joined = false;
  bool is_ellipsis = false;
  std::size_t offset = 0;
};
using Side = std::vector<Group>;

class Rearrange {
 public:
  explicit Rearrange(PrimitiveCall& call) : call_(call) {}

  Value run() {
    const auto* x = call_.tensor(0);
    auto text = call_.text(1);
    if (!x || !text) return {};
    text_ = *text;
    const auto arrow = text_.find("->");
    if (arrow == std::string::npos) return fail(0, text_.size(), "the pattern has no `->`");
    if (!read_side(0, arrow, left_) || !read_side(arrow + 2, text_.size(), right_)) return {};
    if (!expand_ellipsis(*x) || !check_names() || !read_sizes() || !solve(*x)) return {};
    return emit(*x);
  }

 private:
  Value fail(std::size_t offset, std::size_t length, const std::string& message) const {
    return call_.fail(diag::Kind::bad_pattern, range_inside(call_.in, call_.args[1], offset, length), message);
  }

  bool read_side(std::size_t begin, std::size_t end, Side& side) {
    Group* open = nullptr;
    for (std::size_t i = begin; i < end; ++i) {
      const char c = text_[i];
      if (c == ' ') continue;
      if (c == '(') {
        if (open) return fail(i, 1, "parentheses cannot nest"), false;
        side.push_back({{}, true, false, i});
        open = &side.back();
        continue;
      }
      if (c == ')') {
        if (!open) return fail(i, 1, "`)` without `(`"), false;
        if (open->names.empty()) return fail(open->offset, 2, "parentheses without a name"), false;
        open = nullptr;
        continue;
      }
      if (text_.compare(i, 3, "...") == 0) {
        if (open) return fail(i, 3, "`...` cannot stand in parentheses"), false;
        side.push_back({{}, false, true, i});
        i += 2;
        continue;
      }
      std::size_t stop = i;
      while (stop < end && (std::isalnum(static_cast<unsigned char>(text_[stop])) || text_[stop] == '_')) ++stop;
      if (stop == i) return fail(i, 1, fmt::format("`{}` is not a name", c)), false;
      const NamedDim name{text_.substr(i, stop - i), i};
      if (name.name == "1" && !open) {
        side.push_back({{}, false, false, i});
        continue;
      }
      if (std::isdigit(static_cast<unsigned char>(c)))
        return fail(i, stop - i, fmt::format("`{}` is not a name", name.name)), false;
      if (open)
        open->names.push_back(name);
      else
        side.push_back({{name}, false, false, i});
      i = stop - 1;
    }
    if (open) return fail(open->offset, 1, "`(` without `)`"), false;
    return true;
  }

  bool expand_ellipsis(const TensorValue& x) {
    auto is_ellipsis = [](const Group& group) { return group.is_ellipsis; };
    const auto in_left = std::count_if(left_.begin(), left_.end(), is_ellipsis);
    const auto in_right = std::count_if(right_.begin(), right_.end(), is_ellipsis);
    if (in_left != in_right || in_left > 1) return fail(0, text_.size(), "`...` must stand once on each side"), false;
    const std::size_t num_named = left_.size() - static_cast<std::size_t>(in_left);
    if (x.dims.size() < num_named || (in_left == 0 && x.dims.size() != num_named)) {
      fail(0, text_.find("->"),
           fmt::format("the pattern names {}{} dim{}, but the tensor is {}", in_left ? "at least " : "", num_named,
                       num_named == 1 ? "" : "s", to_string(x.dtype, x.dims)));
      return false;
    }
    if (in_left == 0) return true;
    for (Side* side : {&left_, &right_}) {
      auto place = std::find_if(side->begin(), side->end(), is_ellipsis);
      const std::size_t offset = place->offset;
      place = side->erase(place);
      for (std::size_t i = x.dims.size() - num_named; i-- > 0;) {
        place = side->insert(place, Group{{{"dots" + std::to_string(i), offset}}, false, false, offset});
      }
    }
    return true;
  }

  bool check_names() {
    std::map<std::string, std::size_t> on_left;
    for (const auto& group : left_) {
      for (const auto& name : group.names) {
        if (!on_left.emplace(name.name, name.offset).second)
          return fail(name.offset, name.name.size(), fmt::format("`{}` stands twice on the left", name.name)), false;
      }
    }
    std::map<std::string, std::size_t> on_right;
    for (const auto& group : right_) {
      for (const auto& name : group.names) {
        if (!on_right.emplace(name.name, name.offset).second)
          return fail(name.offset, name.name.size(), fmt::format("`{}` stands twice on the right", name.name)), false;
        if (on_left.count(name.name) == 0)
          return fail(name.offset, name.name.size(),
                      fmt::format("`{}` stands on the right but not on the left", name.name)),
                 false;
      }
    }
    for (const auto& [name, offset] : on_left) {
      if (on_right.count(name) == 0)
        return fail(offset, name.size(), fmt::format("`{}` stands on the left but not on the right", name)), false;
    }
    names_ = on_left;
    return true;
  }

  bool read_sizes() {
    for (const auto& [name, value] : call_.extra) {
      if (names_.count(name.text) == 0) {
        std::vector<std::string> known;
        for (const auto& [other, offset] : names_) known.push_back(other);
        auto& diagnostic = call_.in.report(diag::Kind::wrong_argument, name.range,
                                           fmt::format("the pattern has no name `{}`", name.text));
        call_.in.suggest(diagnostic, name.text, known);
        return false;
      }
      if (value.is_unbound()) return false;
      auto size = as_dim(value);
      if (!size || (size->number() && *size->number() < 1)) {
        call_.fail(diag::Kind::wrong_type, value.range,
                   fmt::format("the size of `{}` is a positive integer, found {}", name.text, show(value)));
        return false;
      }
      sizes_[name.text] = *size;
    }
    return true;
  }

  bool solve(const TensorValue& x) {
    for (std::size_t d = 0; d < left_.size(); ++d) {
      const Group& group = left_[d];
      Dim known = 1;
      const NamedDim* unknown = nullptr;
      for (const auto& name : group.names) {
        auto size = sizes_.find(name.name);
        if (size != sizes_.end()) {
          known = known * size->second;
        } else if (unknown) {
          fail(name.offset, name.name.size(),
               fmt::format("the sizes of `{}` and `{}` are both unknown", unknown->name, name.name));
          return false;
        } else {
          unknown = &name;
        }
      }
      const std::string shown = to_string(x.dtype, x.dims);
      if (!unknown) {
        if (are_equal(known, x.dims[d]) != Truth::no) continue;
        call_.fail(diag::Kind::shape_mismatch, range_inside(call_.in, call_.args[1], group.offset, 1),
                   fmt::format("shapes disagree in `rearrange`: dim {} of {} is {}, the pattern makes it {}", d, shown,
                               x.dims[d].to_string(), known.to_string()));
        return false;
      }
      if (known.is(1)) {
        sizes_[unknown->name] = x.dims[d];
        continue;
      }
      auto size = Dim::divide(x.dims[d], known);
      if (!size && x.dims[d].number() && known.number()) {
        call_.fail(diag::Kind::shape_mismatch, range_inside(call_.in, call_.args[1], group.offset, 1),
                   fmt::format("shapes disagree in `rearrange`: dim {} of {} is {}, which {} does not divide", d, shown,
                               x.dims[d].to_string(), known.to_string()));
        return false;
      }
      sizes_[unknown->name] = size ? *size : Dim::quotient(x.dims[d], known);
    }
    return true;
  }

  static std::string spell(const Side& side) {
    std::string text;
    for (const auto& group : side) {
      text += text.empty() ? "" : " ";
      if (group.names.empty()) text += "1";
      if (group.is_joined) text += "(";
      for (std::size_t i = 0; i < group.names.size(); ++i) text += (i == 0 ? "" : " ") + group.names[i].name;
      if (group.is_joined) text += ")";
    }
    return text;
  }

  Value emit(const TensorValue& x) {
    Dims dims;
    for (const auto& group : right_) {
      Dim size = 1;
      for (const auto& name : group.names) size = size * sizes_.at(name.name);
      dims.push_back(size);
    }
    TracedTensor op;
    op.op = TraceOp::rearrange;
    op.operands = {x.ref};
    op.text = spell(left_) + " -> " + spell(right_);
    for (const auto& [name, size] : sizes_) {
      op.names.push_back(name);
      op.ints.push_back(size.number().value_or(0));
    }
    return call_.in.emit(std::move(op), x.dtype, std::move(dims), call_.range, x.adopts);
  }

  PrimitiveCall& call_;
  std::string text_;
  Side left_;
  Side right_;
  std::map<std::string, std::size_t> names_;
  std::map<std::string, Dim> sizes_;
};

Value run_rearrange(PrimitiveCall& call) {
  return Rearrange(call).run();
}

}  // namespace

std::vector<Primitive> rearrange_primitives() {
  return {{"rearrange", "x, pattern, **", run_rearrange}};
}

}  // namespace dtj::check
