// SPDX-License-Identifier: Apache-2.0
/// A job's use of its GPUs as numbers in one fixed order, for a file, and back without trust.
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "probe/job_use.hpp"

namespace schedmate::probe {

/// `visit` is given each number of it but how many spans there are.
template <class Self, class Visit>
void JobUse::visit_numbers(Self& use, Visit&& visit) {
  visit(use.span_s_);
  visit(use.gpu_spans_.measured_s);
  visit(use.gpu_spans_.idle_s);
  for (auto& span : use.spans_) {
    visit(span.gpu_readings);
    visit(span.gpu_tenths);
    visit(span.memory_readings);
    visit(span.memory_tenths);
  }
  for (auto* const totals : {&use.all_, &use.alone_}) {
    visit(totals->readings);
    visit(totals->shared);
    for (auto* const measured : {&totals->gpu, &totals->memory, &totals->busy}) {
      visit(measured->readings);
      visit(measured->tenths);
      visit(measured->most_tenths);
      for (auto& share : measured->shares) visit(share);
    }
    visit(totals->memory_mib);
    visit(totals->memory_readings);
    visit(totals->most_memory_mib);
    visit(totals->from_s);
    visit(totals->to_s);
  }
}

Document JobUse::kept() const {
  Document numbers = Document::array({spans_.size()});
  visit_numbers(*this, [&](const auto& number) {
    numbers.push_back(static_cast<std::uint64_t>(number));  // none is below 0
  });
  return numbers;
}

Result<JobUse> JobUse::restored(const Document& kept) {
  static const Document none = Document::array();
  const Document& numbers = kept.is_array() ? kept : none;
  auto next = numbers.begin();
  bool is_sound = true;
  const auto take = [&](std::uint64_t most) -> std::uint64_t {
    is_sound = is_sound && next != numbers.end() && next->is_number_unsigned();
    const std::uint64_t value = is_sound ? (next++)->get<std::uint64_t>() : 0;
    is_sound = is_sound && value <= most;
    return is_sound ? value : 0;
  };
  JobUse made;
  made.spans_.resize(take(most_points));
  visit_numbers(made, [&](auto& number) {
    using Number = std::remove_reference_t<decltype(number)>;
    number = static_cast<Number>(take(std::numeric_limits<Number>::max()));
  });
  constexpr std::int64_t least_s = 10, most_s = std::int64_t{1} << 40U;
  if (!is_sound || next != numbers.end() || made.span_s_ < least_s || made.span_s_ > most_s)
    return fail(ErrorCode::invalid, "no use of GPUs as it was kept");
  return made;
}

}  // namespace schedmate::probe
