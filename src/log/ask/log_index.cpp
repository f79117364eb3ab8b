// SPDX-License-Identifier: Apache-2.0
#include "log/ask/log_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/foreign_file.hpp"
#include "base/hash.hpp"
#include "base/input.hpp"
#include "base/output.hpp"
#include "base/own_files.hpp"
#include "log/lines/clean.hpp"
#include "log/lines/lines.hpp"
#include "log/lines/template.hpp"

namespace schedmate::ask {
namespace {

constexpr std::size_t most_indexed_text = 300;
constexpr std::size_t most_held_text = 1024;  ///< a longer line is cleaned at once
constexpr std::size_t most_fresh_text = std::size_t{4} << 20U;
constexpr std::size_t overlap = std::size_t{1} << 15U;

class Indexer {
 public:
  explicit Indexer(const IndexCleaner& cleaner) : cleaner_(cleaner) {}
  void add(const lines::Line& line) {
    ++index_.lines;
    const auto clean = lines::without_escapes(line.text, scratch_);
    if (!clean.contains('\r')) {
      add_state(line.number, clean);
      return;
    }
    for (const auto state : lines::states_of(clean)) add_state(line.number, state);
  }
  LogIndex take() {
    clean_up();
    return std::move(index_);
  }

 private:
  void add_state(std::uint64_t number, std::string_view state) {
    if (state.empty()) return;
    const auto hash = lines::template_hash(state);
    const auto found = at_.find(hash);
    learn(state);
    const std::string text = held(state);
    if (found != at_.end()) {
      DistinctLine& known = index_.distinct_lines[found->second];
      ++known.count;
      known.last.number = number;
      known.last.text = text;
      return;
    }
    if (index_.distinct_lines.size() == LogIndex::most) {
      ++index_.lost;
      return;
    }
    at_.emplace(hash, index_.distinct_lines.size());
    index_.distinct_lines.push_back({hash, 1, {number, text}, {number, text}});
  }

  /// Whatever is secret in the log, where it stands with its name. A block of a key may lie over
  /// the border of two pieces.
  void learn(std::string_view state) {
    if (!cleaner_.learn) return;
    fresh_.append(state).append("\n");
    if (fresh_.size() < most_fresh_text) return;
    cleaner_.learn(fresh_);
    fresh_.erase(0, fresh_.size() - std::min(fresh_.size(), overlap));
  }

  /// What is kept until the end: cut to its size only when it is clean.
  std::string held(std::string_view state) const {
    if (!cleaner_.clean) return std::string(state.substr(0, most_indexed_text));
    if (state.size() <= most_held_text) return std::string(state);
    return cleaner_.clean(state).substr(0, most_indexed_text);
  }

  void clean_up() {
    if (!cleaner_.clean) return;
    if (cleaner_.learn) cleaner_.learn(fresh_);
    std::vector<std::string*> texts;
    for (DistinctLine& each : index_.distinct_lines) texts.push_back(&each.first.text);
    for (DistinctLine& each : index_.distinct_lines) texts.push_back(&each.last.text);
    std::string all;
    for (const std::string* text : texts) all.append(*text).append("\n");
    const std::string clean = cleaner_.clean(all);
    std::size_t begin = 0;
    for (std::string* const text : texts) {
      const std::size_t end = clean.find('\n', begin);
      *text = clean.substr(begin, std::min(end - begin, most_indexed_text));
      begin = end + 1;
    }
  }

  const IndexCleaner& cleaner_;
  std::string fresh_;  ///< lines that nobody has learnt from yet
  LogIndex index_;
  std::unordered_map<std::uint64_t, std::size_t> at_;
  std::string scratch_;
};

}  // namespace

Result<LogIndex> index_log(const ForeignPath& path, const IndexCleaner& cleaner) {
  Indexer indexer(cleaner);
  const auto done = lines::each_line(path, [&](const lines::Line& line) {
    indexer.add(line);
    return true;
  });
  auto index = indexer.take();
  if (!done && index.lines == 0) return tl::unexpected(done.error());
  return index;
}

// The index that is kept while its file stays as it was.

namespace {

namespace fs = std::filesystem;
using IndexJson = nlohmann::json;

constexpr int format_version = 2;
constexpr std::uint64_t largest_index = std::uint64_t{1} << 27U;

std::string printable(std::string_view text) {
  // Logs hold any bytes; JSON holds UTF-8.
  return IndexJson::parse(IndexJson(text).dump(-1, ' ', false, IndexJson::error_handler_t::replace))
      .get<std::string>();
}

IndexJson json_of(const IndexedLine& line) { return {line.number, printable(line.text)}; }

IndexedLine line_of(const IndexJson& json) {
  return {json.at(0).get<std::uint64_t>(), json.at(1).get<std::string>()};
}

std::string index_text(const FileMark& mark, const LogIndex& index) {
  IndexJson json = {{"version", format_version}, {"path", printable(mark.path)},
                    {"bytes", mark.bytes},       {"inode", mark.inode},
                    {"mtime_ns", mark.mtime_ns}, {"lines", index.lines},
                    {"lost", index.lost},        {"said", IndexJson::array()}};
  for (const DistinctLine& each : index.distinct_lines)
    json["said"].push_back({each.hash, each.count, json_of(each.first), json_of(each.last)});
  return json.dump();
}

/// Nothing when it is of another file, another state of it, or no index at all.
std::optional<LogIndex> read_index(const std::string& text, const FileMark& mark) {
  try {
    const IndexJson json = IndexJson::parse(text);
    const FileMark kept{json.at("path"), json.at("bytes"), json.at("inode"), json.at("mtime_ns")};
    if (json.at("version") != format_version || kept != mark) return std::nullopt;
    LogIndex index;
    index.lines = json.at("lines");
    index.lost = json.at("lost");
    for (const IndexJson& each : json.at("said"))
      index.distinct_lines.push_back({each.at(0).get<std::uint64_t>(),
                                      each.at(1).get<std::uint64_t>(), line_of(each.at(2)),
                                      line_of(each.at(3))});
    return index;
  } catch (const IndexJson::exception&) {
    return std::nullopt;
  }
}

fs::path index_file(const std::string& absolute_path, const fs::path& folder) {
  return folder / fmt::format("{:016x}.json", hash_bytes(absolute_path));
}

/// For its owner alone, whatever the mask of the process is.
bool write_index(const fs::path& file, const std::string& text) {
  std::error_code error;
  if (!write_file(file.string(), text)) return false;
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, error);
  if (error) fs::remove(file, error);
  return true;
}

/// The oldest, and those that others may read: a version that kept lines as they were wrote them.
void forget_oldest(const fs::path& folder) {
  constexpr auto others = fs::perms::group_all | fs::perms::others_all;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    if (each->path().extension() != ".json") continue;
    if ((fs::status(each->path(), error).permissions() & others) != fs::perms::none)
      fs::remove(each->path(), error);
    else
      files.emplace_back(fs::last_write_time(each->path(), error), each->path());
  }
  std::ranges::sort(files);
  for (std::size_t i = 0; i + most_cached_indexes < files.size(); ++i)
    fs::remove(files[i].second, error);
}

}  // namespace

Result<FileMark> mark_of(const ForeignPath& path) {
  const auto status =
      ForeignFile::open(path).and_then([](ForeignFile file) { return file.status(); });
  if (!status) return tl::unexpected(status.error());
  std::error_code error;
  return FileMark{fs::absolute(path.name, error).lexically_normal().string(),
                  static_cast<std::uint64_t>(status->st_size), status->st_ino,
                  status->st_mtim.tv_sec * std::int64_t{1'000'000'000} + status->st_mtim.tv_nsec};
}

void forget_index(const std::string& path, const std::string& folder) {
  std::error_code error;
  const std::string absolute = fs::absolute(path, error).lexically_normal().string();
  fs::remove(index_file(printable(absolute), folder), error);
}

Result<LogIndex> cached_index(const ForeignPath& path, const std::string& folder,
                              const IndexCleaner& cleaner) {
  auto mark = mark_of(path);
  if (!mark) return tl::unexpected(mark.error());
  mark->path = printable(mark->path);
  const fs::path file = index_file(mark->path, folder);
  const bool kept = make_own_folder(folder).has_value();
  std::error_code error;
  if (kept && fs::exists(file, error))
    if (const auto text = read_file(file.string(), largest_index))
      if (auto index = read_index(*text, *mark)) return *std::move(index);
  auto index = index_log(path, cleaner);
  if (!index) return index;
  if (kept && write_index(file, index_text(*mark, *index))) forget_oldest(folder);
  return index;
}

}  // namespace schedmate::ask
