#include "tests/unit/check/eval_support.hpp"

// Mistakes in values and declarations: the kind, the range and the message of each.

namespace dtj::check::testing {
namespace {

Strings errors_of(const std::string& text) {
  return Program(text).errors();
}

TEST_CASE("mistakes: integer division must be exact", "[unit][check]") {
  Program program("const x = 7 / 2;");
  CHECK(program.errors() == Strings{"E205 `7 / 2`: 7 / 2 is not exact"});
  CHECK(program.first_help() == "`div` rounds down, to 3; for a fraction write `7.0 / ...`");
}

TEST_CASE("mistakes: division by zero and overflow", "[unit][check]") {
  CHECK(errors_of("const x = 1 / 0;") == Strings{"E305 `0`: division by zero"});
  CHECK(errors_of("const x = 1.0 / 0.0;") == Strings{"E305 `0.0`: division by zero"});
  CHECK(errors_of("const x = 4 % (2 - 2);") == Strings{"E305 `2 - 2`: division by zero"});
  CHECK(errors_of("const x = 10 ** 30;") == Strings{"E305 `10 ** 30`: the integer does not fit 64 bits"});
  CHECK(errors_of("const x = sqrt(-1);") == Strings{"E305 `-1`: `sqrt` has no value at -1"});
}

TEST_CASE("mistakes: quantities of different kinds", "[unit][check]") {
  Program program("const x = 30min + 5step;");
  CHECK(program.errors() ==
        Strings{"E301 `5step`: `+` needs two quantities of one kind, found a duration and a number of steps"});
  CHECK(program.sink.sorted()[0].labels.size() == 1);
  Program bare("const x = 30min + 5;");
  CHECK(bare.errors() == Strings{"E301 `5`: `+` does not take a duration and an integer"});
  CHECK(bare.first_help() == "give the number a unit, as in `30min`");
}

TEST_CASE("mistakes: operators on the wrong values", "[unit][check]") {
  CHECK(errors_of("const x = 1 + \"a\";") == Strings{"E304 `1 + \"a\"`: `+` does not take an integer and a string"});
  CHECK(errors_of("const x = not 3;") == Strings{"E304 `3`: `not` takes a bool, found an integer"});
  CHECK(errors_of("const x = true and 3;") == Strings{"E304 `3`: `and` takes bools, found an integer"});
  CHECK(errors_of("const x = if 1 { 2 } else { 3 };") ==
        Strings{"E304 `1`: the condition of `if` is an integer, not a bool"});
}

TEST_CASE("mistakes: unknown names are suggested", "[unit][check]") {
  Program near("const width = 3; const x = widht;");
  CHECK(near.errors() == Strings{"E401 `widht`: the name `widht` is not known"});
  CHECK(near.first_help() == "did you mean `width`?");
  Program library("const x = Linear(3, 4);");
  CHECK(library.errors() == Strings{"E401 `Linear`: the name `Linear` is not known"});
  CHECK(library.first_help() == "add `import std.nn.{Linear};`");
}

TEST_CASE("mistakes: one cause gives one message", "[unit][check]") {
  CHECK(errors_of("const a = missing + 1; const b = a * 2; const c = [a, b]; const d = c[0] / 0;").size() == 1);
  CHECK(errors_of("fn f(x) { x * missing } const a = f(1); const b = f(2);").size() == 1);
}

TEST_CASE("mistakes: all causes are found in one run", "[unit][check]") {
  CHECK(errors_of("const a = 1 / 0; const b = 7 / 2; const c = nowhere;").size() == 3);
}

TEST_CASE("mistakes: names declared twice", "[unit][check]") {
  Program program("const a = 1; const a = 2;");
  CHECK(program.errors() == Strings{"E403 `a`: `a` is declared twice"});
  CHECK(program.sink.sorted()[0].labels.at(0).text == "first declared here");
  CHECK(errors_of("import std.nn.{Mlp};\nmodule Mlp() {}") == Strings{"E403 `Mlp`: `Mlp` is declared twice"});
}

TEST_CASE("mistakes: constants that depend on themselves", "[unit][check]") {
  CHECK(errors_of("const a = b + 1; const b = a;") == Strings{"E405 `a`: the constant `a` depends on itself"});
}

TEST_CASE("mistakes: fields, indices and calls of values", "[unit][check]") {
  Program record("const r = {width = 3}; const x = r.widht;");
  CHECK(record.errors() == Strings{"E401 `widht`: a record has no `widht`"});
  CHECK(record.first_help() == "did you mean `width`?");
  CHECK(errors_of("const x = [1, 2][2];") == Strings{"E204 `2`: the index 2 is outside of a list of 2"});
  CHECK(errors_of("const x = (3).y;") == Strings{"E304 `y`: an integer has no field `y`"});
}

TEST_CASE("mistakes: patterns, loops and assignments", "[unit][check]") {
  CHECK(errors_of("fn f() { let (a, b) = (1, 2, 3); a } const x = f();") ==
        Strings{"E304 `(1, 2, 3)`: 2 names cannot be taken from a tuple of 3"});
  Program loop("fn f(n) { for i in n { } 1 } const x = f(3);");
  CHECK(loop.errors() == Strings{"E304 `n`: `for` takes a list or a range, found an integer"});
  CHECK(loop.first_help() == "write `0..n`");
  Program assign("fn f() { let a = 1; a = 2; a } const x = f();");
  CHECK(assign.errors() == Strings{"E406 `a`: `a` cannot be assigned"});
  CHECK(assign.first_help() == "write `mut a = ...;`");
}

TEST_CASE("mistakes: a check that does not hold", "[unit][check]") {
  CHECK(errors_of("fn f(n) { check n > 3, \"n is small\"; n } const x = f(2);") ==
        Strings{"E306 `check n > 3, \"n is small\"`: n is small"});
}

TEST_CASE("mistakes: unknown types, attributes and placeholders", "[unit][check]") {
  Program type("fn f(a: strnig) { a } const x = f(1);");
  CHECK(type.errors() == Strings{"E401 `strnig`: there is no type `strnig`"});
  CHECK(type.first_help() == "did you mean `string`?");
  CHECK(errors_of("@optimiser module M() {}") == Strings{"E401 `optimiser`: there is no attribute `@optimiser`"});
  Program placeholder("bind <data>: string; const x = <dota>;");
  CHECK(placeholder.errors() == Strings{"E401 `<dota>`: the file declares no placeholder `<dota>`"});
  CHECK(placeholder.first_help() == "did you mean `<data>`?");
}

TEST_CASE("mistakes: records and enums", "[unit][check]") {
  CHECK(errors_of("const x = shuffle(sead = 3);").size() == 1);
  CHECK(errors_of("const x = shuffle(seed = 0.5);") ==
        Strings{"E304 `0.5`: `seed` of `shuffle` must be an integer, found a number with a fraction"});
  CHECK(errors_of("enum K { one, two } const x = K.tow;") == Strings{"E401 `tow`: the enum `K` has no `tow`"});
}

TEST_CASE("mistakes: features of later editions say so", "[unit][check]") {
  CHECK(errors_of("module M(C: dim) { buffer mean: f32[C] = 0; } const x = M(3);") ==
        Strings{"E304 `0`: the initial value of `mean` must be an initialiser, found an integer"});
  CHECK(errors_of("@shard(column = tp) module M() {}") ==
        Strings{"N903 `@shard(column = tp)`: `@shard` changes where tensors lie, and not what is computed: it has no effect yet"});
}

}  // namespace
}  // namespace dtj::check::testing
