#include <fmt/format.h>

#include <cmath>

#include "compiler/check/evaluator.hpp"
#include "compiler/check/job_draft.hpp"

// The sections `data NAME`.

namespace dtj::check {
namespace {

const std::vector<std::string> source_names = {"idx_images", "text_chars", "token_shards"};

const Record* as_record(const Value& value) {
  const auto* record = value.as<std::shared_ptr<Record>>();
  return record != nullptr ? record->get() : nullptr;
}

/// One field of a record of the library. Unbound and mistaken fields keep `fallback`.
std::int64_t integer_field(const Record& record, std::string_view name, std::int64_t least, diag::Sink& sink) {
  const Value* value = record.find(name);
  const auto* number = value != nullptr ? value->as<std::int64_t>() : nullptr;
  if (number == nullptr) return least;
  if (*number >= least) return *number;
  sink.report({diag::Kind::out_of_range, value->range, fmt::format("`{}` must be at least {}, found {}", name, least, *number)})
      .help(fmt::format("nearest valid: `{} = {}`", name, least));
  return least;
}

std::optional<double> number_field(const Record& record, std::string_view name) {
  const Value* value = record.find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* real = value->as<double>()) return *real;
  if (const auto* integer = value->as<std::int64_t>()) return static_cast<double>(*integer);
  return std::nullopt;
}

std::string text_field(const Record& record, std::string_view name, diag::Sink& sink) {
  const Value* value = record.find(name);
  if (value == nullptr || value->is_poison()) return "";
  if (const auto* text = value->as<std::string>()) return *text;
  if (const auto* unbound = value->as<Unbound>()) return fmt::format("<{}>", unbound->name);
  sink.report({diag::Kind::wrong_type, value->range, fmt::format("`{}` takes text, found {}", name, describe(*value))})
      .help(fmt::format("for example `{} = \"...\"`", name));
  return "";
}

void check_split(const Record& source, const std::string& split, std::string_view other, diag::Sink& sink) {
  if (split.empty() || split.front() == '<' || split == "train" || split == other) return;
  const Value* value = source.find("split");
  auto& report = sink.report({diag::Kind::unknown_split, value->range, fmt::format("`{}` has no split \"{}\"", source.name, split)});
  report.help(fmt::format("the splits are \"train\" and \"{}\"", other));
}

void read_images(const Record& source, DataSpec& spec, diag::Sink& sink) {
  spec.source.kind = SourceKind::idx_images;
  spec.source.num_classes = integer_field(source, "classes", 1, sink);
  spec.source.height = integer_field(source, "height", 1, sink);
  spec.source.width = integer_field(source, "width", 1, sink);
  check_split(source, spec.source.split, "test", sink);
}

void read_text_chars(const Record& source, DataSpec& spec, diag::Sink& sink) {
  spec.source.kind = SourceKind::text_chars;
  spec.source.vocab = integer_field(source, "vocab", 1, sink);
  const auto fraction = number_field(source, "train_fraction");
  if (fraction) spec.source.train_fraction = *fraction;
  if (fraction && !(*fraction > 0 && *fraction <= 1)) {
    sink.report({diag::Kind::out_of_range, source.find("train_fraction")->range,
                 fmt::format("`train_fraction` lies above 0 and up to 1, found {}", spell(*fraction))})
        .help("for example `train_fraction = 0.9`");
  }
  check_split(source, spec.source.split, "valid", sink);
}

void read_token_shards(const Record& source, DataSpec& spec, diag::Sink& sink) {
  spec.source.kind = SourceKind::token_shards;
  spec.source.vocab = integer_field(source, "vocab", 0, sink);
  spec.source.pattern = text_field(source, "pattern", sink);
  const std::string dtype = text_field(source, "dtype", sink);
  if (dtype.empty() || dtype.front() == '<' || dtype == "u16") return;
  sink.report({diag::Kind::unknown_word, source.find("dtype")->range, fmt::format("`dtype` of token shards cannot be `{}`", dtype)})
      .help("tokens are stored as `u16`; a file with a header says itself what it holds");
}

void read_source(const SectionValues& section, DataDraft& draft, diag::Sink& sink) {
  const Entry* entry = section.find("source");
  if (entry == nullptr || entry->value.is_poison() || entry->value.is_unbound()) return;
  draft.source_range = entry->value.range;
  const Record* source = as_record(entry->value);
  const bool is_source = source != nullptr && std::find(source_names.begin(), source_names.end(), source->name) != source_names.end();
  if (!is_source) {
    sink.report({diag::Kind::unknown_source, entry->value.range, fmt::format("`source` takes a data source, found {}", describe(entry->value))})
        .help("std.data has `idx_images`, `text_chars` and `token_shards`");
    return;
  }
  draft.has_source = true;
  draft.spec.source.path = text_field(*source, "path", sink);
  if (source->find("split") != nullptr) draft.spec.source.split = text_field(*source, "split", sink);
  if (source->name == "idx_images")
    read_images(*source, draft.spec, sink);
  else if (source->name == "text_chars")
    read_text_chars(*source, draft.spec, sink);
  else
    read_token_shards(*source, draft.spec, sink);
}

/// The settings of the list in force so far.
struct TransformState {
  bool has_scale = false;
  bool has_normalize = false;
  bool has_crop = false;
  bool has_flip = false;
  std::optional<source::Range> random;  ///< the first that changes images at random
};

void report_transform(source::Range range, std::string message, std::string help, diag::Sink& sink) {
  sink.report({diag::Kind::wrong_transform, range, std::move(message)}).help(std::move(help));
}

void read_crop(const Record& record, source::Range range, TransformState& state, PixelTransform& transform, diag::Sink& sink) {
  if (state.has_crop) return report_transform(range, "`random_crop` comes once", "leave one of them out", sink);
  state.has_crop = true;
  if (!state.random) state.random = range;
  constexpr std::int64_t most = 1 << 10;
  transform.crop_pad = std::min(integer_field(record, "pad", 0, sink), most);
  const Value* pad = record.find("pad");
  const auto* number = pad != nullptr ? pad->as<std::int64_t>() : nullptr;
  if (number != nullptr && *number > most)
    sink.report({diag::Kind::out_of_range, pad->range, fmt::format("`pad` must be at most {}, found {}", most, *number)})
        .help(fmt::format("nearest valid: `pad = {}`", most));
}

void read_flip(const Record& record, source::Range range, TransformState& state, PixelTransform& transform, diag::Sink& sink) {
  if (state.has_flip) return report_transform(range, "`random_flip` comes once", "leave one of them out", sink);
  state.has_flip = true;
  if (!state.random) state.random = range;
  transform.flip = number_field(record, "p").value_or(0.5);
  if (transform.flip >= 0 && transform.flip <= 1) return;
  const double nearest = transform.flip < 0 ? 0 : 1;
  sink.report({diag::Kind::out_of_range, record.find("p")->range, fmt::format("`p` is a probability, from 0 to 1, found {}", spell(transform.flip))})
      .help(fmt::format("nearest valid: `p = {}`", spell(nearest)));
  transform.flip = nearest;
}

void read_one_transform(const Value& value, TransformState& state, PixelTransform& transform, diag::Sink& sink) {
  if (value.is_poison() || value.is_unbound()) return;
  const Record* record = as_record(value);
  if (record != nullptr && record->name == "to_f32") {
    if (state.has_scale || state.has_normalize)
      return report_transform(value.range, "`to_f32` comes once, and first", "write `[to_f32(...), normalize(...)]`", sink);
    state.has_scale = true;
    transform.scale = number_field(*record, "scale").value_or(1.0);
    return;
  }
  if (record != nullptr && record->name == "normalize") {
    if (state.has_normalize || !state.has_scale)
      return report_transform(value.range, state.has_normalize ? "`normalize` comes once" : "`normalize` needs f32 pixels",
                              "write `[to_f32(scale = 1.0 / 255.0), normalize(...)]`", sink);
    state.has_normalize = true;
    transform.mean = number_field(*record, "mean").value_or(0.0);
    transform.std = number_field(*record, "std").value_or(1.0);
    if (transform.std > 0) return;
    sink.report({diag::Kind::out_of_range, value.range, fmt::format("`std` divides, so it must be above 0, found {}", spell(transform.std))})
        .help("for example `normalize(mean = 0.5, std = 0.5)`");
    return;
  }
  if (record != nullptr && record->name == "random_crop") return read_crop(*record, value.range, state, transform, sink);
  if (record != nullptr && record->name == "random_flip") return read_flip(*record, value.range, state, transform, sink);
  report_transform(value.range, fmt::format("`transform` holds transforms, found {}", describe(value)),
                   "there are `to_f32`, `normalize`, `random_crop` and `random_flip`", sink);
}

void read_transform(const SectionValues& section, DataDraft& draft, diag::Sink& sink) {
  const Entry* entry = section.find("transform");
  if (entry == nullptr || entry->value.is_poison() || entry->value.is_unbound()) return;
  if (draft.has_source && draft.spec.source.kind != SourceKind::idx_images)
    return report_transform(entry->value.range, "`transform` changes pixels, and this source gives tokens", "leave `transform` out", sink);
  const auto* list = entry->value.as<std::shared_ptr<List>>();
  if (list == nullptr)
    return report_transform(entry->value.range, fmt::format("`transform` takes a list, found {}", describe(entry->value)),
                            "write `[to_f32(scale = 1.0 / 255.0)]`", sink);
  TransformState state;
  for (const Value& value : (*list)->elements) read_one_transform(value, state, draft.spec.transform, sink);
  draft.random_transform = state.random;
}

/// Whether the tree is a shuffle that states no seed: said before its record is made, in the words of the job.
bool is_seedless_shuffle(const ast::Expr& expr) {
  const auto is_shuffle = [](const ast::Expr& e) {
    const auto* name = std::get_if<ast::NameRef>(&e.node);
    return name != nullptr && name->name == "shuffle";
  };
  if (is_shuffle(expr)) return true;
  const auto* call = std::get_if<ast::Call>(&expr.node);
  if (call == nullptr || !is_shuffle(*call->callee)) return false;
  for (const ast::Arg& arg : call->args)
    if (!arg.name || arg.name->text == "seed") return false;
  return true;
}

std::optional<SamplerSpec> sampler_of(const Record& record, DataDraft& draft, source::Range range, diag::Sink& sink) {
  SamplerSpec spec;
  spec.kind = record.name == "shuffle" ? SamplerKind::shuffle : SamplerKind::sequential;
  if (const Value* drop = record.find("drop_last"))
    if (const bool* flag = drop->as<bool>()) draft.drop_last = *flag;
  spec.last_batch = draft.drop_last ? LastBatch::drop : LastBatch::pad;
  if (spec.kind == SamplerKind::sequential) return spec;
  if (const Value* window = record.find("window"); window != nullptr && !window->as<None>()) draft.window_range = window->range.is_none ? range : window->range;
  const Value* seed = record.find("seed");
  const auto* number = seed != nullptr ? seed->as<std::int64_t>() : nullptr;
  if (number == nullptr) return std::nullopt;
  if (*number < 0) {
    sink.report({diag::Kind::out_of_range, range, fmt::format("a seed is not negative, found {}", *number)})
        .help(fmt::format("nearest valid: `shuffle(seed = {})`", *number == INT64_MIN ? 0 : -*number));
    return std::nullopt;
  }
  spec.seed = static_cast<std::uint64_t>(*number);
  return spec;
}

void read_sampler(const SectionValues& section, DataDraft& draft, const ReadContext& context) {
  const Entry* entry = section.find("sampler");
  draft.sampler.presence = Presence::unknown;
  if (entry == nullptr || !entry->setting->value) return;
  const ast::Expr& expr = *entry->setting->value;
  draft.sampler.range = expr.range;
  if (is_seedless_shuffle(expr)) {
    context.sink->report({diag::Kind::shuffle_without_seed, expr.range, "`shuffle` needs a seed"})
        .note("the order of the samples is a function of the seed, so that a resumed run goes on where it stopped")
        .help("for example `shuffle(seed = 1)`")
        .fix(expr.range, "shuffle(seed = 1)", diag::Applicability::maybe_incorrect);
    return;
  }
  const Value value = context.evaluator->evaluate(expr, entry->scope);
  if (value.is_poison() || value.is_unbound()) return;
  const Record* record = as_record(value);
  if (record == nullptr || (record->name != "shuffle" && record->name != "sequential")) {
    context.sink->report({diag::Kind::wrong_type, expr.range, fmt::format("`sampler` takes a sampler, found {}", describe(value))})
        .help("write `shuffle(seed = 1)` or `sequential()`");
    return;
  }
  if (const auto spec = sampler_of(*record, draft, expr.range, *context.sink)) {
    draft.sampler.value = *spec;
    draft.sampler.presence = Presence::known;
  }
}

/// What the loader hands to the objective.
std::vector<FieldSpec> fields_of(const DataSpec& spec) {
  if (spec.source.kind == SourceKind::idx_images)
    return {FieldSpec{"image", DType::f32, {1, spec.source.height, spec.source.width}, false}, FieldSpec{"label", DType::i32, {}, true}};
  return {FieldSpec{"tokens", DType::i32, {spec.seq}, false}, FieldSpec{"targets", DType::i32, {spec.seq}, true}};
}

void read_sequence(const SectionValues& section, DataDraft& draft, diag::Sink& sink) {
  const auto seq = read_quantity(section, "seq");
  draft.seq = {static_cast<std::int64_t>(seq.value.amount), seq.range, seq.presence};
  if (!draft.has_source) return;
  const bool is_text = draft.spec.source.kind != SourceKind::idx_images;
  if (is_text && !seq.is_stated()) {
    sink.report({diag::Kind::missing_sequence_length, section.range, fmt::format("`data {}` reads tokens, so it needs the key `seq`", section.label)})
        .help("for example `seq = 64tok;`, the tokens of one sample");
    draft.seq.presence = Presence::unknown;
  }
  if (!is_text && seq.is_stated()) {
    sink.report({diag::Kind::unknown_key, section.find("seq")->setting->key.range, "`seq` counts tokens, and this source gives images"})
        .help("leave `seq` out");
    draft.seq = {};
  }
  if (is_text && draft.seq.is_known()) draft.spec.seq = draft.seq.value;
}

}  // namespace

DataDraft draft_data(const SectionValues& section, const ReadContext& context) {
  DataDraft draft;
  draft.spec.name = section.label;
  draft.label_range = section.label_range;
  read_source(section, draft, *context.sink);
  read_transform(section, draft, *context.sink);
  read_sequence(section, draft, *context.sink);
  draft.global_batch = read_quantity(section, "global_batch");
  if (!draft.global_batch.is_stated()) draft.global_batch.presence = Presence::unknown;  // reported as a missing key
  draft.micro_batch = read_quantity(section, "micro_batch");
  draft.gradient_accumulation = read_integer(section, "gradient_accumulation");
  read_sampler(section, draft, context);
  draft.spec.prefetch = read_integer(section, "prefetch").value;
  draft.spec.sampler = draft.sampler.value;
  if (draft.has_source) draft.spec.fields = fields_of(draft.spec);
  return draft;
}

}  // namespace dtj::check
