#pragma once

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/check/evaluator.hpp"
#include "compiler/check/units.hpp"
#include "compiler/parse/parse.hpp"
#include "tests/support/catch.hpp"

namespace dtj::check::testing {

/// A mistake as tests compare it: "E304 `text under the caret`: message".
inline std::string brief(const diag::Diagnostic& diagnostic, const source::SourceManager& sources) {
  const std::string text =
      diagnostic.range.is_none ? "" : std::string(sources.file(diagnostic.range.file).slice(diagnostic.range));
  return std::string(diag::info(diagnostic.kind).code) + " `" + text + "`: " + diagnostic.message;
}

/// A file on its way through the evaluator.
class Program {
 public:
  explicit Program(const std::string& text, PrecisionSpec precision = {}, std::map<std::string, Value> bound = {})
      : evaluator(sources, sink, std::move(bound)) {
    const auto id = sources.add("test.dtj", text.rfind("dtj 1;", 0) == 0 ? text : "dtj 1;\n" + text);
    file = parse::parse(sources.file(id), sink);
    evaluator.set_precision(precision);
    scope = evaluator.declare(*file);
    for (const auto& decl : file->decls) {
      if (const auto* found = std::get_if<ast::JobDecl>(&decl)) job = found;
    }
    if (job) job_scope = evaluator.declare_job(*job, scope);
  }

  /// The value of a constant of the file.
  Value value(const std::string& name) const {
    const Value* found = scope->find(name);
    return found ? *found : Value{};
  }
  std::string shown(const std::string& name) const { return show(value(name)); }

  Value setting(const std::string& key) {
    for (const auto& setting : job->settings) {
      if (setting.key.to_string() == key) return evaluator.evaluate(*setting.value, job_scope);
    }
    return {};
  }

  Trace objective(const std::vector<FieldSpec>& fields, std::int64_t micro_batch, bool training = true) {
    return evaluator.trace_objective(job->functions.at(0), setting("model"), fields, micro_batch, training, job_scope,
                                     metrics);
  }

  std::vector<std::string> errors() const {
    std::vector<std::string> result;
    for (const auto& diagnostic : sink.sorted()) result.push_back(brief(diagnostic, sources));
    return result;
  }
  std::string all_errors() const { return diag::render_text(sink.sorted(), sources, {}); }
  std::string first_help() const {
    const auto all = sink.sorted();
    return all.empty() || all[0].helps.empty() ? "" : all[0].helps[0];
  }

  source::SourceManager sources;
  diag::Sink sink;
  Evaluator evaluator;
  std::unique_ptr<ast::File> file;
  const ast::JobDecl* job = nullptr;
  std::shared_ptr<Scope> scope, job_scope;
  std::vector<std::string> metrics;
};

/// The mistakes of a file whose modules are checked on their own.
inline std::vector<std::string> mistakes(const std::string& text) {
  Program program(text);
  program.evaluator.check_modules(*program.file, program.scope);
  return program.errors();
}

/// The only mistake of a trace of `body` over a batch {x: f32[4, 8], y: i32[4], z: f32[4]} with 2 samples.
inline std::vector<std::string> mistakes_in_objective(const std::string& body, const std::string& declarations = "") {
  Program program("import std.nn.{Linear, Embedding, relu, cross_entropy};\n" + declarations +
                  "\nmodule Model() { sub fc = Linear(8, 3); fn forward(x: act[..L, 8]) -> act[..L, 3] { fc(x) } }\n"
                  "job j {\n model = Model();\n fn objective(m, batch) {\n" +
                  body + "\n }\n}\n");
  program.objective({{"x", DType::f32, {4, 8}, false}, {"y", DType::i32, {4}, true}, {"z", DType::f32, {4}, false}}, 2);
  return program.errors();
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::vector<std::string> ops_of(const Trace& trace) {
  std::vector<std::string> names;
  for (const auto& tensor : trace.tensors) names.emplace_back(to_string(tensor.op));
  return names;
}

inline std::string type_of(const Trace& trace, TensorRef ref) {
  const auto& type = trace.tensors.at(ref).type;
  return std::string(dtj::to_string(type.dtype)) + dtj::to_string(type.shape);
}

using Strings = std::vector<std::string>;

}  // namespace dtj::check::testing
