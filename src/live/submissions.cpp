// SPDX-License-Identifier: Apache-2.0
#include "live/submissions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace schedmate::live {
namespace {

constexpr std::string_view kept_prefix = "submission ";
constexpr Seconds remembered{86400};

}  // namespace

const Submissions::Known* Submissions::find(const std::string& token) const {
  const auto found = known_.find(token);
  return found == known_.end() ? nullptr : &found->second;
}

std::uint64_t Submissions::request_of(const ActionCall& call) {
  return hash_bytes(call.text, hash_bytes(call.user));
}

void Submissions::add(const std::string& token, const Known& known) {
  known_[token] = known;
  order_.push_back(token);
}

void Submissions::note(const ActionCall& call, std::int64_t action, SimTime now) {
  const Known known{action, now, request_of(call)};
  add(call.token, known);
  fresh_.push_back({std::string(kept_prefix) + call.token,
                    fmt::format("{} {} {}", action, seconds_of(now), known.request)});
}

std::vector<journal::Kept> Submissions::take(SimTime now) {
  while (!order_.empty() &&
         (order_.size() > most_ || now - known_.at(order_.front()).when >= remembered)) {
    fresh_.push_back({std::string(kept_prefix) + order_.front(), ""});
    known_.erase(order_.front());
    order_.pop_front();
  }
  return std::exchange(fresh_, {});
}

void Submissions::restore(const std::map<std::string, std::string>& kept) {
  std::vector<std::pair<std::int64_t, std::string>> tokens;  // in order of their actions
  for (auto each = kept.lower_bound(std::string(kept_prefix));
       each != kept.end() && each->first.starts_with(kept_prefix); ++each) {
    const auto words = split(each->second, ' ');
    if (words.size() != 3) continue;
    const auto action = parse_number<std::int64_t>(words[0]),
               when = parse_number<std::int64_t>(words[1]);
    const auto request = parse_number<std::uint64_t>(words[2]);
    if (!action || !when || !request) continue;
    const std::string token = each->first.substr(kept_prefix.size());
    known_[token] = {*action, at(*when), *request};
    tokens.emplace_back(*action, token);
  }
  std::ranges::sort(tokens);
  for (auto& [action, token] : tokens) order_.push_back(std::move(token));
}

}  // namespace schedmate::live
