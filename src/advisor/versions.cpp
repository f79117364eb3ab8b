// SPDX-License-Identifier: Apache-2.0
#include "advisor/versions.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "core/facts_json.hpp"

namespace schedmate::advisor {
namespace {

using nlohmann::json;

constexpr std::string_view space = "closure";
constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20U;

std::string key_of(const std::string& root, const std::string& hash) { return hash + '\n' + root; }

json write(const FileStamp& file) {
  return {file.path, file.size, file.mtime_ns, file.inode, file.hash};
}

std::optional<FileStamp> read(const json& row) {
  constexpr std::size_t columns = 5;
  if (!row.is_array() || row.size() != columns || !row[0].is_string() ||
      !row[1].is_number_integer() || !row[2].is_number_integer() || !row[3].is_number_integer() ||
      !row[4].is_string())
    return std::nullopt;
  return FileStamp{row[0].get<std::string>(), row[1].get<std::uint64_t>(),
                   row[2].get<std::int64_t>(), row[3].get<std::uint64_t>(),
                   row[4].get<std::string>()};
}

bool is_commit(std::string_view text) {
  constexpr std::size_t sha1 = 40;
  constexpr std::size_t sha256 = 64;
  return (text.size() == sha1 || text.size() == sha256) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The commit of a ref in packed-refs, whose lines are "COMMIT REF".
std::string packed_commit(std::string_view packed, std::string_view ref) {
  for (const std::string_view line : split(packed, '\n')) {
    const std::size_t gap = line.find(' ');
    if (gap != std::string_view::npos && trim(line.substr(gap + 1)) == ref &&
        is_commit(line.substr(0, gap)))
      return std::string(line.substr(0, gap));
  }
  return "";
}

}  // namespace

Result<void> keep_closure(Store& store, const std::string& root, const Closure& closure) {
  if (closure.hash.empty()) return {};
  json files = json::array();
  for (const FileStamp& file : closure.files) files.push_back(write(file));
  return store.cache({std::string(space), key_of(root, closure.hash), root,
                      files.dump(-1, ' ', false, json::error_handler_t::replace)},
                     most_bytes);
}

Result<std::optional<Closure>> find_closure(Store& store, const std::string& root,
                                            const std::string& hash) {
  const auto text = store.cached(std::string(space), key_of(root, hash));
  if (!text) return tl::unexpected(text.error());
  if (!*text) return std::nullopt;
  const json rows = json::parse(**text, nullptr, false);
  if (!rows.is_array()) return std::nullopt;  // can be made again
  Closure closure{hash, {}};
  for (const json& row : rows) {
    auto file = read(row);
    if (!file) return std::nullopt;
    closure.files.push_back(std::move(*file));
  }
  return closure;
}

std::string git_commit(const TreeAccess& tree, const std::string& root) {
  const auto head = tree.text(root, ".git/HEAD");
  if (!head) return "";
  const std::string_view text = trim(*head);
  if (is_commit(text)) return std::string(text);
  constexpr std::string_view prefix = "ref: ";
  const std::string_view ref = text.substr(std::min(prefix.size(), text.size()));
  if (!text.starts_with(prefix) || !ref.starts_with("refs/") || ref.contains("..")) return "";
  if (const auto loose = tree.text(root, ".git/" + std::string(ref)); loose) {
    const std::string_view commit = trim(*loose);
    return is_commit(commit) ? std::string(commit) : "";
  }
  const auto packed = tree.text(root, ".git/packed-refs");
  return packed ? packed_commit(*packed, ref) : "";
}

std::vector<FactChange> changed_facts(const Facts& before, const Facts& now) {
  std::set<std::string_view> names;
  for (const Facts* each : {&before, &now})
    for (const auto& [name, fact] : each->facts) names.insert(name);
  const auto text = [](const Facts& facts, std::string_view name) {
    const Fact* fact = known_fact(facts, name);
    return fact == nullptr ? std::string() : value_text(fact->value);
  };
  std::vector<FactChange> changes;
  for (const std::string_view name : names) {
    FactChange change{std::string(name), text(before, name), text(now, name)};
    if (change.before != change.now) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace schedmate::advisor
