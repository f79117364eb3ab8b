// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel_sifter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "log/witness/kernel_lines.hpp"

namespace schedmate::probe {
namespace {

/// The text behind a mark up to `end`, or to the end of the text.
std::string_view between(std::string_view text, std::string_view mark, std::string_view end) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + mark.size());
  return rest.substr(0, rest.find(end));
}

/// The first address of a device in a message, as pci_address() gives it.
std::string address_in(std::string_view message) {
  constexpr std::string_view letters = "0123456789abcdefABCDEF:.";
  for (std::size_t at = message.find(':'); at != std::string_view::npos;
       at = message.find(':', at + 1)) {
    const auto before = message.find_last_not_of(letters, at);
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    auto word = message.substr(begin, message.find_first_not_of(letters, at) - begin);
    while (!word.empty() && !is_digit(word.front()) && word.starts_with(':')) word.remove_prefix(1);
    while (word.ends_with(':') || word.ends_with('.')) word.remove_suffix(1);
    if (auto found = pci_address(word); !found.empty()) return found;
  }
  return {};
}

Severity severity_of(const witness::WitnessFinding& finding) {
  const auto& means = finding.means;
  if (means.verdict == FailureClass::user_script) return Severity::application;
  // Whoever waits for a file server is not ill himself.
  const bool of_node = means.verdict == FailureClass::infrastructure && means.rule != "file server";
  return of_node && means.recommendation != Recommendation::notify ? Severity::fault
                                                                   : Severity::note;
}

/// What has to do with the machine or with a job's limits; a program that crashed has not.
bool matters(const witness::WitnessFinding& finding, std::optional<int> xid) {
  return finding.means.verdict == FailureClass::infrastructure || xid ||
         finding.means.rule.starts_with("out of memory");
}

}  // namespace

std::string without_processes(std::string_view message) {
  struct Part {
    std::string_view mark, end;  // "": to the end of the line
  };
  constexpr std::array parts = {
      Part{"pid=", ","},        Part{"name=", ","},         Part{",nodemask", ""},
      Part{"task=", ","},       Part{"uid=", ","},          Part{" task ", " blocked"},
      Part{"Killing ", " due"}, Part{" to ", " due"},       Part{"s! [", ""},
      Part{" comm ", ""},       Part{"Killed process ", ""}};
  std::string made(message);
  for (const Part& part : parts) {
    const auto at = made.find(part.mark);
    if (at == std::string::npos) continue;
    const auto begin = at + part.mark.size();
    const auto end = part.end.empty() ? std::string::npos : made.find(part.end, begin);
    if (end == std::string::npos && part.mark == " to ") continue;  // no process is named
    made.replace(begin, std::min(end, made.size()) - begin, "...");
  }
  return shown(made);
}

KernelSifter::KernelSifter(witness::KernelRules rules, witness::XidTable xids)
    : rules_(std::move(rules)), xids_(std::move(xids)) {}

Result<KernelSifter> KernelSifter::load(const std::string& folder) {
  auto rules = witness::KernelRules::load(folder);
  if (!rules) return tl::unexpected(rules.error());
  auto xids = witness::XidTable::load(folder);
  if (!xids) return tl::unexpected(xids.error());
  return KernelSifter(std::move(*rules), std::move(*xids));
}

bool KernelSifter::may_read(std::size_t bytes) {
  if (read_ + bytes <= most_bytes) {
    read_ += bytes;
    return true;
  }
  skipped_ += bytes;
  return false;
}

void KernelSifter::restart() { begun_.clear(); }

void KernelSifter::take(std::string_view bytes, std::int64_t now_s) {
  if (!may_read(bytes.size())) return restart();
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    const auto room = longest_line - begun_.size();
    begun_ += part.substr(0, room);
    if (end == std::string_view::npos) return;
    take_line(begun_, now_s);
    begun_.clear();
    bytes.remove_prefix(end + 1);
  }
}

void KernelSifter::take_line(std::string_view line, std::int64_t now_s) {
  if (const auto read = witness::read_kernel_line(line)) judge(read->message, now_s);
}

void KernelSifter::take_record(std::string_view record, std::int64_t now_s, std::int64_t now_us) {
  if (!may_read(record.size())) return;
  // "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;MESSAGE\n KEY=VALUE..."
  const auto colon = record.find(';');
  if (colon == std::string_view::npos) return;
  const auto head = split(record.substr(0, colon), ',');
  if (head.size() < 3) return;
  const auto priority = parse_number<unsigned>(head[0]);
  const auto stamp_us = parse_number<std::int64_t>(head[2]);
  constexpr unsigned levels = 8;
  if (!priority || *priority >= levels || !stamp_us) return;  // of another facility than kern
  const std::int64_t age_s = std::max<std::int64_t>(now_us - *stamp_us, 0) / 1'000'000;
  const auto message = record.substr(colon + 1);
  judge(message.substr(0, std::min(message.find('\n'), longest_line)), now_s - age_s);
}

void KernelSifter::take(const Sample& sample) {
  for (const GpuSample& gpu : sample.gpus) {
    if (gpu.pci.empty() || (gpus_.size() >= most_gpus && !gpus_.contains(gpu.pci))) continue;
    gpus_[gpu.pci] = gpu.index;
    if (!gpu.last_xid) continue;
    const auto [held, is_first] = last_xids_.try_emplace(gpu.pci, *gpu.last_xid);
    const bool is_other = std::exchange(held->second, *gpu.last_xid) != *gpu.last_xid;
    if (!is_first && is_other && *gpu.last_xid != 0)
      judge(fmt::format("NVRM: Xid (PCI:{}): {}, told by DCGM", gpu.pci, *gpu.last_xid),
            sample.at_s);
  }
}

void KernelSifter::judge(std::string_view message, std::int64_t at_s) {
  const auto finding = rules_.judge(message, xids_);
  if (!finding) return;
  const auto xid = witness::kernel_xid(message);
  if (!matters(*finding, xid)) return;
  KernelEvent event;
  event.at_s = at_s;
  event.rule = finding->means.rule;
  event.severity = severity_of(*finding);
  if (xid && *xid >= 0) event.xid = static_cast<unsigned>(*xid);
  const auto gpu = gpus_.find(address_in(message));
  if (gpu != gpus_.end()) event.gpu = gpu->second;
  constexpr std::size_t longest_job = 64;
  event.job = between(between(message, "task_memcg=", ","), "/job_", "/").substr(0, longest_job);
  event.text = without_processes(message);
  auto key =
      fmt::format("{} {} {} {}", event.rule, address_in(message), xid.value_or(-1), event.job);
  if (found_.size() >= most_events && !found_.contains(key)) return;
  const auto [held, is_new] = found_.try_emplace(std::move(key), event);
  if (is_new) return;
  held->second.at_s = std::max(held->second.at_s, at_s);
  ++held->second.times;
}

std::vector<KernelEvent> KernelSifter::take_out() {
  read_ = 0;
  std::vector<KernelEvent> events;
  for (auto& [key, event] : found_) events.push_back(std::move(event));
  found_.clear();
  std::ranges::stable_sort(events, std::ranges::greater(), &KernelEvent::severity);
  return events;
}

}  // namespace schedmate::probe
