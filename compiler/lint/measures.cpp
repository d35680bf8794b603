#include "compiler/lint/patterns.hpp"
#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"

// Tier all: what a site's hardware is doing, and what was measured on it.

namespace dtj::lint {

const Shapes& use_shapes() {
  static const Shapes all(Collection::use, {
      {"w / ", R"re((\d+W / \d+W\s*\|\s*\d+Mi?B / \d+Mi?B(?:\s*\|\s*\d+%)?))re", {Kind::utilization}},
      {"b / ", R"re((\d+Mi?B / \d+Mi?B\s*\|\s*\d+%))re", {Kind::utilization}},
      {"", R"re((\d[\d.]*\s?[KMGTP]i?[Bo]?(?: used)? (?:of|out of|sur|von|de|/) \d[\d.,]*\s?[KMGTP]i?[Bo]?(?: used)?(?:,? \(?\d+ ?%\)?)?))re", {Kind::utilization}, 55, has_number},
      {"", R"re((\b\d+(?:\.\d+)? ?% (?:full|used|busy|idle|utili[sz]ed|utili[sz]ation|of the (?:quota|cluster|nodes|gpus))))re", {Kind::utilization}, 55, has_percent},
      {"util|use|usage|load|occupancy", R"re((?i:\b(?:gpu(?: \d+)?|power|cluster|node|queue|partition|system|storage|quota|disk|memory)[- ](?:util\w*|use|usage|load|occupancy)(?: is| was| at| of| to| about| around| over| fell| rose| dropped| grew| climbed| averaged| averages| averaging| reached| hit| went| stayed| median|:|=|~)+ ?)(\d[\d.]* ?%?))re", {Kind::utilization}},
      {"util|usage|occupancy|load average", R"re((?i:\b(?:util(?:i[sz]ation)?|usage|occupancy|load average)(?: is| was| at| of| to| about| around| over| fell| rose| dropped| grew| climbed| averaged| averages| averaging| reached| hit| went| stayed| median|:|=|~| )+ ?)(\d[\d.]* ?(?:%|W)?))re", {Kind::utilization}},
      {"", R"re(\s(\d+/\d+/\d+/\d+)(?:\s|$))re", {Kind::utilization}, 55, has_slash | has_number},
      {"idle|busy|down|drain|alloc|pending|queued|waiting|free|running|in use", R"re(\b(\d+ (?:nodes?|gpus?|GPUs?|jobs?|cores) (?:are |were )?(?:idle|busy|down|drained|draining|allocated|pending|queued|waiting|free|running|in use)))re", {Kind::utilization}},
      {"idle|alloc|mix|dra|drng|down|resv|maint|comp|plnd|fail", R"re((?:^|\s)(\d+)\s+(?:idle|alloc|mix|mixed|drain|drng|down|resv|maint|comp|allocated|drained|plnd|fail)[*~#$@+-]*(?:\s|$))re", {Kind::utilization}},
      {"queue|wait|pending", R"re(\b(?:queue(?:d| wait| time)?|wait(?:ed|ing)?(?: time)?|pending)(?: for| was| is| about| of| time| rose| fell| grew| dropped| to| median| on average| around|:)* (?:~)?(\d+(?:\.\d+)? ?(?:h|hours?|days?|min|minutes?))\b)re", {Kind::utilization}},
      {"", R"re(^\S+\s+\d[\d.]*[KMGTP]i?\s+(\d[\d.]*[KMGTP]i?\s+\d[\d.]*[KMGTP]i?\s+\d+%)\s)re", {Kind::utilization}, 55, has_percent},
      {"cpuload=|allocmem=|freemem=|cpualloc=", R"re(\b(?:CPULoad|AllocMem|FreeMem|CPUAlloc)=(\d[\d.]*))re", {Kind::utilization}},
      {"storage|quota|disk|file system|filesystem|scratch|volume|pool|`/", R"re((?i:\b(?:storage|quota|disk|file ?system|scratch|volume|pool))\b.{0,60} (?:at|is|to) (\d+(?:\.\d+)? ?%))re", {Kind::utilization}},
      {"", R"re(^\s*(?:/\S+\s+)?(\d{6,}\*?\s+\d{6,}\s+\d{6,}\s.*))re", {Kind::utilization}, 55, has_number},
      {"hour|unit", R"re(\b(\d[\d,.]* (?:of|/) \d[\d,.]*\w* (?:core|node|gpu|GPU|CPU|cpu|service)[- ]?(?:hours?|units?)))re", {Kind::utilization}},
      {"hour", R"re(\b(\d[\d,.]*\w? (?:core|node|gpu|GPU|CPU|cpu)[- ]?hours? (?:left|used|remaining|consumed|spent|burnt|burned)))re", {Kind::utilization}},
      {"used|free|available|remaining|consumed", R"re((?i:\b(?:used|free|available|remaining|consumed)[:=] ?)(\d[\d.,]* ?(?:[KMGTP]i?B?|%|h|hours|SU|SUs))\b)re", {Kind::utilization}},
  });
  return all;
}

const Shapes& result_shapes() {
  static const Shapes all(Collection::result, {
      {"", R"re(((?i:\b(?:(?:val|valid|validation|test|train|eval|training|final|best|mean|avg|top|dev|macro|micro|zero-shot)[_ /-]?)*(?:loss|acc|accuracy|top-?[15]|ppl|perplexity|bleu|rouge(?:-?[l12])?|f1|miou|iou|map|m?ap50|wer|cer|auc|auroc|dice|rmse|mse|mae|psnr|ssim|fid|reward|score|mfu|throughput|latency|speed-?up|tok/s|tokens/s|tok_s|toks?_per_sec(?:ond)?|tokens[_ ]per[_ ]sec(?:ond)?|samples/s|samples_per_second|img/s|images/s|step[_ ]time|dt|bandwidth|busbw|algbw|tflops|gflops|r2|mcc|nll|bpb|bpc|em|exact match|pass@1|elo|recall|precision|gap|error rate|mmlu|gsm8k|hellaswag|humaneval|mbpp|arc-?[ce]|winogrande|truthfulqa|bus bandwidth|validation error|test error|bits per byte)\b)(?:@\d+)?(?: \([^)]{1,12}\))?(?: is| was| of| reached| at| to|\s*:|=|\||\*|`| )+ ?(?:~|about |≈ ?)?[`*]{0,2}-?\d+(?:\.\d+)?(?:e[+-]?\d+)? ?(?:%|x|ms|s|GB/s|TFLOPS?)?))re", {Kind::result}, 55, has_number},
      {"", R"re((\b\d[\d,.]*[kKM]? ?(?:tok(?:en)?s?/s(?:ec|/GPU)?|samples?/s(?:ec)?|im(?:a)?ge?s?/s(?:ec)?|img/s|tokens per second|samples per second|TFLOPS?(?:/s|/GPU)?|TFLOP/s|PFLOPS?|GFLOPS?|GB/s|MB/s|steps?/s|ns/day|GiB/s|seq/s)))re", {Kind::result}, 55, has_number},
      {"", R"re((\b\d+\.\d+ ?%? (?i:(?:top-?1|accuracy|acc|bleu|f1|perplexity|ppl|loss|mfu|miou|map|wer|speedup|auc|points)\b)))re", {Kind::result}, 55, has_number},
      {"", R"re((?i:\b(?:scaling efficiency|efficiency|speedup)(?: is| was| of|:|=)+ ?)(\d+(?:\.\d+)? ?[%x]?))re", {Kind::result}, 55, has_number},
      {"", R"re((\b\d+(?:\.\d+)? ?% (?i:MFU|accuracy|efficiency|better|faster)))re", {Kind::result}, 55, has_number},
      {"", R"re((\b\d+(?:\.\d+)?x (?i:speed-?up|faster|slower)))re", {Kind::result}, 55, has_number},
  });
  return all;
}

namespace {

bool is_no_measurement(std::string_view text) {
  static const RE2 pattern(
      "(?i)\\b(target|threshold|goal|at least|at most|expected?|should|must|paper|reported|published in|et al|\\[\\d+\\]|limit|early.?stop|patience|min_|max_|"
      "theoretical|peak|spec|datasheet|advertised|hyper|weight|coef|lambda|clip|smoothing|default|e\\.g\\.|example|stop (when|at|below)|until|if )|\\\\cite\\b|it/s\\]|s/it\\]|[<>]=|[<>] ?\\d");
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

void report(Scan& scan, const Shapes& shapes, const Line& line) {
  shapes.each_match(line, true, [&](const Shape& shape, const std::vector<std::string_view>& captures) {
    for (const auto capture : captures) {
      if (!capture.empty()) scan.leak(*shape.kinds.front(), trim(capture, " \t*`|"), 40);
    }
  });
}

}  // namespace

void recognise_measures(Scan& scan, const Line& line) {
  if (!line.has(has_number)) return;
  const bool is_written = scan.flavour == Flavour::markdown || scan.flavour == Flavour::text || scan.flavour == Flavour::log;
  const bool is_comment = (line.has(has_hash) && trim_front(line.text).substr(0, 1) == "#") ||
                          (scan.flavour == Flavour::job && line.text.find("//") != std::string_view::npos);
  if (is_written || is_comment) report(scan, use_shapes(), line);
  if ((is_written || is_comment) && !is_no_measurement(line.text)) report(scan, result_shapes(), line);
}

}  // namespace dtj::lint
