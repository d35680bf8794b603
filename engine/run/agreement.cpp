#include "engine/run/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace dtj::run {
namespace {

// What one rank tells the others; fixed size, so that no rank needs to know another's before.
struct Report {
  std::int32_t failed;
  std::int32_t code;
  char message[1016];
};

Report make_report(const Status& status) {
  Report report{};
  if (status) return report;
  report.failed = 1;
  report.code = static_cast<std::int32_t>(status.error().code);
  const std::string text = status.error().to_string();
  std::memcpy(report.message, text.data(), std::min(text.size(), sizeof report.message - 1));
  return report;
}

}  // namespace

Status Peers::agree(const Status& mine) {
  if (world_size() == 1) return mine;
  std::vector<Report> reports(static_cast<std::size_t>(world_size()));
  reports[comm_.rank().value] = make_report(mine);
  const Status gathered = comm_.all_gather(reports.data(), sizeof(Report), DType::u8);
  if (!gathered) return mine ? gathered : mine;
  const auto failed =
      std::find_if(reports.begin(), reports.end(), [](const Report& report) { return report.failed != 0; });
  if (failed == reports.end()) return {};
  agreed_on_failure_ = true;
  if (!mine) return mine;
  return tl::unexpected<Error>(
      Error{static_cast<ErrorCode>(failed->code), failed->message, {fmt::format("rank {}", failed - reports.begin())}});
}

void Peers::abort_unless_agreed(const Error& error) {
  if (agreed_on_failure_ || world_size() == 1) return;
  comm_.abort(error.to_string());
}

}  // namespace dtj::run
