#include <nlohmann/json.hpp>

#include "compiler/check/sections.hpp"
#include "compiler/check/units.hpp"
#include "dtj/tools.hpp"

// The schema of the sections is the checker's own table: what it knows, editors and other tools can know.

namespace dtj {
namespace {

using Json = nlohmann::ordered_json;
using check::KeyType;

/// `30min`, `524_288tok` with a unit of one of the kinds.
Json quantity(const std::vector<check::UnitKind>& kinds) {
  std::string units;
  for (const check::UnitKind kind : kinds) {
    for (const std::string& unit : check::unit_spellings(kind)) units += (units.empty() ? "" : "|") + unit;
  }
  return {{"type", "string"}, {"pattern", "^[0-9][0-9_]*(\\.[0-9][0-9_]*)?([eE][+-]?[0-9]+)?(" + units + ")$"}};
}

Json word(const check::KeySchema& key) {
  Json schema = {{"type", "string"}};
  if (!key.words.empty() && key.arguments.empty()) schema["enum"] = key.words;
  // A word with arguments: `slurm(partition = <partition>)`.
  if (!key.words.empty() && !key.arguments.empty()) {
    std::string words;
    for (const std::string_view each : key.words) words += (words.empty() ? "" : "|") + std::string(each);
    schema["pattern"] = "^(" + words + ")(\\(.*\\))?$";
  }
  return schema;
}

Json value_schema(const check::KeySchema& key) {
  switch (key.type) {
    case KeyType::integer: return {{"type", "integer"}};
    case KeyType::number: return {{"type", "number"}};
    case KeyType::boolean: return {{"type", "boolean"}};
    case KeyType::text: return {{"type", "string"}};
    case KeyType::quantity: return quantity(key.units);
    case KeyType::count: return {{"anyOf", Json::array({Json{{"type", "integer"}}, quantity(key.units)})}};
    case KeyType::word: return word(key);
    case KeyType::words: {
      check::KeySchema each = key;
      each.arguments.clear();
      return {{"type", "array"}, {"items", word(each)}};
    }
    case KeyType::value:
    case KeyType::written: return {{"$comment", "an expression of the language, as text"}, {"type", "string"}};
  }
  return Json::object();
}

struct FallbackJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const check::Quantity& quantity) const { return check::spell(quantity); }
  template <class T>
  Json operator()(const T& value) const {
    return value;
  }
};

Json key_schema(const check::KeySchema& key) {
  Json value = value_schema(key);
  const bool is_plain_number = key.type == KeyType::integer || key.type == KeyType::number;
  if (key.minimum && is_plain_number) value["minimum"] = *key.minimum;
  if (key.maximum && is_plain_number) value["maximum"] = *key.maximum;
  Json schema = {{"anyOf", Json::array({value, Json{{"$ref", "#/$defs/placeholder"}}})}};
  if (Json fallback = std::visit(FallbackJson{}, key.fallback); !fallback.is_null()) schema["default"] = std::move(fallback);
  if (!key.example.empty()) schema["description"] = "for example `" + std::string(key.name) + " = " + std::string(key.example) + ";`";
  return schema;
}

Json section_schema(const check::SectionSchema& section) {
  Json schema = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  if (!section.example.empty()) schema["description"] = "for example `" + std::string(section.example) + "`";
  Json required = Json::array();
  for (const check::KeySchema& key : section.keys) {
    schema["properties"][std::string(key.name)] = key_schema(key);
    if (key.is_required) required.push_back(key.name);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

}  // namespace

std::string sections_schema() {
  Json job = section_schema(check::job_schema());
  for (const check::SectionSchema& section : check::section_schemas()) {
    const std::string name(section.name);
    Json schema = section_schema(section);
    if (section.has_label) schema = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
    job["properties"][name] = std::move(schema);
    if (section.is_required) job["required"].push_back(name);
  }
  Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"title", "settings and sections of a dtj job, edition 1"}};
  document.update(job);
  document["$defs"] = {{"placeholder", {{"type", "string"}, {"pattern", "^<[a-z][a-z0-9_]*>$"}}}};
  return document.dump(2) + "\n";
}

}  // namespace dtj
