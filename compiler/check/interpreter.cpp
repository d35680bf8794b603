#include "compiler/check/interpreter.hpp"

#include <fmt/format.h>

namespace dtj::check {

namespace {

constexpr std::uint32_t max_call_depth = 200;

}  // namespace

Interpreter::Interpreter(source::SourceManager& source_manager, diag::Sink& report_sink,
                         std::map<std::string, Value> bound, const ImportFiles* imports)
    : sources(source_manager), sink(&report_sink), bound_(std::move(bound)), imports_(imports) {}

Interpreter::~Interpreter() {
  // A file's scope holds functions that hold the scope: the circle is broken here.
  for (const auto& scope : scopes_) {
    scope->names.clear();
    scope->parent.reset();
  }
}

bool Interpreter::is_library(source::Range range) const {
  return !range.is_none && sources.file(range.file).name().rfind("std/", 0) == 0;
}

std::string Interpreter::text_of(source::Range range) const {
  return range.is_none ? "" : std::string(sources.file(range.file).slice(range));
}

diag::Diagnostic& Interpreter::report(diag::Kind kind, source::Range range, std::string message) {
  if (is_library(range)) {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      if (frame->call.is_none || is_library(frame->call)) continue;
      diag::Diagnostic moved(kind, frame->call, std::move(message));
      moved.label(range, fmt::format("found inside `{}`", frame->callee));
      return sink->report(std::move(moved));
    }
  }
  return sink->report({kind, range, std::move(message)});
}

void Interpreter::suggest(diag::Diagnostic& diagnostic, const std::string& name,
                          const std::vector<std::string>& candidates) const {
  if (auto near = diag::nearest(name, candidates)) diagnostic.help(fmt::format("did you mean `{}`?", *near));
}

bool Interpreter::enter(const std::string& callee, source::Range range) {
  if (frames_.size() >= max_call_depth) {
    if (!is_exhausted_) {
      report(diag::Kind::too_large, range, fmt::format("calls of `{}` nest deeper than {}", callee, max_call_depth))
          .note("functions and modules cannot call themselves without end: every job is elaborated at compile time");
    }
    is_exhausted_ = true;
    return false;
  }
  frames_.push_back({callee, range, std::nullopt});
  return true;
}

void Interpreter::leave() {
  frames_.pop_back();
}

std::optional<Dim> as_dim(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return Dim(*integer);
  if (const auto* dim = value.as<Dim>()) return *dim;
  return std::nullopt;
}

Value make_int(const Dim& dim, source::Range range) {
  if (auto number = dim.number()) return {*number, range};
  return {dim, range};
}

std::optional<double> as_number(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = value.as<double>()) return *real;
  return std::nullopt;
}

bool is_number(const Value& value) {
  return as_number(value).has_value() || value.as<Dim>() != nullptr || value.is_unbound();
}

const TensorValue* as_tensor(const Value& value) {
  return value.as<TensorValue>();
}

}  // namespace dtj::check
