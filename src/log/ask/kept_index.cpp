// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/input.hpp"
#include "base/output.hpp"
#include "log/ask/log_index.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;
using IndexJson = nlohmann::json;

constexpr int format_version = 1;
constexpr std::uint64_t largest_index = std::uint64_t{1} << 27U;

std::string printable(std::string_view text) {
  // Logs hold any bytes; JSON holds UTF-8.
  return IndexJson::parse(IndexJson(text).dump(-1, ' ', false, IndexJson::error_handler_t::replace))
      .get<std::string>();
}

IndexJson json_of(const KeptLine& line) { return {line.number, printable(line.text)}; }

KeptLine line_of(const IndexJson& json) {
  return {json.at(0).get<std::uint64_t>(), json.at(1).get<std::string>()};
}

std::string index_text(const FileMark& mark, const LogIndex& index) {
  IndexJson json = {{"version", format_version}, {"path", printable(mark.path)},
                    {"bytes", mark.bytes},       {"inode", mark.inode},
                    {"mtime_ns", mark.mtime_ns}, {"lines", index.lines},
                    {"lost", index.lost},        {"said", IndexJson::array()}};
  for (const Utterance& each : index.said)
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
      index.said.push_back({each.at(0).get<std::uint64_t>(), each.at(1).get<std::uint64_t>(),
                            line_of(each.at(2)), line_of(each.at(3))});
    return index;
  } catch (const IndexJson::exception&) {
    return std::nullopt;
  }
}

void forget_oldest(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    if (each->path().extension() == ".json")
      files.emplace_back(fs::last_write_time(each->path(), error), each->path());
  std::ranges::sort(files);
  for (std::size_t i = 0; i + most_kept < files.size(); ++i) fs::remove(files[i].second, error);
}

}  // namespace

Result<FileMark> mark_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return fail(ErrorCode::invalid, fmt::format("{}: {}", path, std::strerror(errno)));
  std::error_code error;
  return FileMark{fs::absolute(path, error).lexically_normal().string(),
                  static_cast<std::uint64_t>(status.st_size), status.st_ino,
                  status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec};
}

Result<LogIndex> kept_index(const std::string& path, const std::string& folder) {
  auto mark = mark_of(path);
  if (!mark) return tl::unexpected(mark.error());
  mark->path = printable(mark->path);
  const auto file = fs::path(folder) / fmt::format("{:016x}.json", hash_bytes(mark->path));
  std::error_code error;
  if (fs::exists(file, error))
    if (const auto text = read_file(file.string(), largest_index))
      if (auto index = read_index(*text, *mark)) return *std::move(index);
  auto index = index_log(path);
  if (!index) return index;
  fs::create_directories(folder, error);
  fs::permissions(folder, fs::perms::owner_all, error);
  if (!error && write_file(file.string(), index_text(*mark, *index))) forget_oldest(folder);
  return index;
}

}  // namespace schedmate
