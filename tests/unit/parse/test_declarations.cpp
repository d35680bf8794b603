#include "tests/support/catch.hpp"
#include "tests/unit/parse/parsed.hpp"

using namespace dtj::ast;

TEST_CASE("parse: imports", "[unit][parse]") {
  const Parsed parsed("dtj 1;\nimport std.nn.{Linear, relu,};\nimport std.optim;\nimport \"base.dtj\" as base;\n");
  REQUIRE(parsed.sink.sorted().empty());
  const auto& imports = parsed.file->imports;
  REQUIRE(imports.size() == 3);
  CHECK(imports[0].path->to_string() == "std.nn");
  REQUIRE(imports[0].selected.size() == 2);
  CHECK(imports[0].selected[1].text == "relu");
  CHECK(imports[1].path->to_string() == "std.optim");
  CHECK(imports[1].selected.empty());
  CHECK_FALSE(imports[2].path);
  CHECK(imports[2].file == "base.dtj");
  CHECK(imports[2].alias->text == "base");
}

TEST_CASE("parse: placeholders", "[unit][parse]") {
  const Parsed parsed(
      "dtj 1;\nbind <walltime>: duration = 4h where <walltime> >= 30min \"how long\";\nbind <out>: path.dir where writable;\n");
  REQUIRE(parsed.sink.sorted().empty());
  const auto& walltime = parsed.decl<BindDecl>(0);
  CHECK(walltime.name.text == "walltime");
  CHECK(walltime.default_value);
  CHECK(walltime.where);
  CHECK(walltime.help == "how long");
  const auto& out = parsed.decl<BindDecl>(1);
  CHECK_FALSE(out.default_value);
  CHECK(std::get<NameRef>(out.where->node).name == "writable");
  CHECK(std::get<NamedType>(out.type->node).base.to_string() == "path.dir");
}

TEST_CASE("parse: a module", "[unit][parse]") {
  const Parsed parsed(R"(dtj 1;
@optimizer
module M(I: dim, bias: bool = true) where I >= 1, 2 divides I {
  @shard(column = tp)
  param weight: par[I, 4 * I@tp*dp] = ones();
  param bias: par[I] when bias = zeros();
  buffer mean: f32[];
  state m: f32[..S]!(dp);
  const D = I / 2;
  sub h[i in 0..12] = Block(I);
  sub x when bias = Linear(I, I);
  fn forward(x: act[B@dp, I]) -> (act[B, I], [int]?) where B > 1 { x }
  fn primitive(x);
}
)");
  INFO(parsed.errors());
  REQUIRE(parsed.sink.sorted().empty());
  const auto& module = parsed.decl<ModuleDecl>();
  CHECK(module.attrs.at(0).name.to_string() == "optimizer");
  CHECK(module.params.size() == 2);
  CHECK(module.where.size() == 2);
  REQUIRE(module.items.size() == 9);
  const auto& weight = std::get<StateDecl>(module.items[0]);
  CHECK(weight.attrs.at(0).args.at(0).name->text == "column");
  const auto& dims = *std::get<NamedType>(weight.type->node).dims;
  REQUIRE(dims.at(1).axes.size() == 2);
  CHECK(dims.at(1).axes[0].text == "tp");
  CHECK(std::get<Binary>(dims.at(1).size->node).op == BinaryOp::mul);
  const auto& bias = std::get<StateDecl>(module.items[1]);
  CHECK(bias.when);
  CHECK(bias.init);
  CHECK(std::get<StateDecl>(module.items[2]).kind == StateDecl::Kind::buffer);
  const auto& state = std::get<StateDecl>(module.items[3]);
  CHECK(state.kind == StateDecl::Kind::state);
  CHECK(std::get<NamedType>(state.type->node).dims->at(0).pack->text == "S");
  CHECK(std::get<NamedType>(state.type->node).unreduced.at(0).text == "dp");
  const auto& list = std::get<SubDecl>(module.items[5]);
  CHECK(list.index->text == "i");
  CHECK(std::get<Binary>(list.sequence->node).op == BinaryOp::range);
  const auto& optional = std::get<SubDecl>(module.items[6]);
  CHECK(optional.when);
  CHECK_FALSE(optional.index);
  const auto& forward = std::get<FnDecl>(module.items[7]);
  const auto& result = std::get<TupleType>(forward.result_type->node);
  CHECK(std::holds_alternative<OptionalType>(result.elements.at(1)->node));
  CHECK_FALSE(std::get<FnDecl>(module.items[8]).body);
}

TEST_CASE("parse: a job whose names are also words of the language", "[unit][parse]") {
  const Parsed parsed(R"(dtj 1;
job train extends base.gpt2 {
  seed = 1;
  precision.compute = bf16;
  const cfg = Config();
  data test { state = 1; param = 2; inner { dim = 3; } }
  eval { on = test; goal = acc >= 0.88; }
  fn objective(m, batch) { {loss = m(batch)} }
}
)");
  INFO(parsed.errors());
  REQUIRE(parsed.sink.sorted().empty());
  const auto& job = parsed.decl<JobDecl>();
  CHECK(job.extends->to_string() == "base.gpt2");
  CHECK(job.settings.at(1).key.to_string() == "precision.compute");
  CHECK(job.consts.size() == 1);
  CHECK(job.functions.size() == 1);
  CHECK(job.sections.at(0).label->text == "test");
  CHECK(job.sections.at(0).settings.at(0).key.to_string() == "state");
  CHECK(job.sections.at(0).sections.at(0).kind.text == "inner");
  CHECK(std::get<Binary>(job.sections.at(1).settings.at(1).value->node).op == BinaryOp::ge);
}

TEST_CASE("parse: records, enums, dims and tests", "[unit][parse]") {
  const Parsed parsed(
      "dtj 1;\ndim B, T where B >= 1;\nrecord R { a: int = 1; b: Rope?; }\nenum E { x, y, }\ntest \"t\" { check a, \"no\"; }\n");
  REQUIRE(parsed.sink.sorted().empty());
  CHECK(parsed.decl<DimDecl>(0).names.size() == 2);
  CHECK(parsed.decl<DimDecl>(0).where);
  CHECK(parsed.decl<RecordDecl>(1).fields.at(0).default_value);
  CHECK(parsed.decl<EnumDecl>(2).values.at(1).text == "y");
  CHECK(parsed.decl<TestDecl>(3).name == "t");
  CHECK(std::get<Check>(parsed.decl<TestDecl>(3).body->statements.at(0).node).message);
}

TEST_CASE("parse: the sound parts of a broken file stay in the tree", "[unit][parse]") {
  const Parsed parsed("dtj 1;\nconst a = ;\njob j {\n  seed = 3;\n  nodes 4;\n  mesh { dp = 2 }\n}\nconst b = 5;\n");
  CHECK(parsed.sink.num_errors() == 3);
  REQUIRE(parsed.file->decls.size() == 3);
  CHECK(std::holds_alternative<ErrorExpr>(parsed.decl<ConstDecl>(0).value->node));
  const auto& job = parsed.decl<JobDecl>(1);
  CHECK(job.settings.at(0).key.to_string() == "seed");
  CHECK(job.sections.at(0).settings.at(0).key.to_string() == "dp");
  CHECK(std::get<IntLit>(parsed.decl<ConstDecl>(2).value->node).value == 5);
}
