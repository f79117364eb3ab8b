// SPDX-License-Identifier: Apache-2.0
#include "log/ask/log_index.hpp"

#include <unordered_map>

#include "log/lines/clean.hpp"
#include "log/lines/lines.hpp"
#include "log/lines/template.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most_kept_text = 300;

class Indexer {
 public:
  void add(const Line& line) {
    ++index_.lines;
    const auto clean = without_escapes(line.text, scratch_);
    if (!clean.contains('\r')) {
      add_state(line.number, clean);
      return;
    }
    for (const auto state : states_of(clean)) add_state(line.number, state);
  }
  LogIndex take() { return std::move(index_); }

 private:
  void add_state(std::uint64_t number, std::string_view state) {
    if (state.empty()) return;
    const auto hash = template_hash(state);
    const auto text = state.substr(0, most_kept_text);
    const auto found = at_.find(hash);
    if (found != at_.end()) {
      Utterance& known = index_.said[found->second];
      ++known.count;
      known.last.number = number;
      known.last.text.assign(text);
      return;
    }
    if (index_.said.size() == LogIndex::most) {
      ++index_.lost;
      return;
    }
    at_.emplace(hash, index_.said.size());
    index_.said.push_back({hash, 1, {number, std::string(text)}, {number, std::string(text)}});
  }

  LogIndex index_;
  std::unordered_map<std::uint64_t, std::size_t> at_;
  std::string scratch_;
};

}  // namespace

Result<LogIndex> index_log(const std::string& path) {
  Indexer indexer;
  const auto done = each_line(path, [&](const Line& line) {
    indexer.add(line);
    return true;
  });
  auto index = indexer.take();
  if (!done && index.lines == 0) return tl::unexpected(done.error());
  return index;
}

}  // namespace schedmate
