// SPDX-License-Identifier: Apache-2.0
#include "journal/head.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/own_files.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace schedmate::journal {

using sqlite::Database;
using sqlite::Query;

namespace {

constexpr std::size_t line_bytes = 256;  // always as many: no write changes the file's size

std::string line_of(const Head& head) {
  std::string line = fmt::format("{} {} {} {} {}", head.changes, head.epoch, head.next_action,
                                 head.sequence, head.hash.empty() ? "-" : head.hash);
  line += " " + sha256(line);
  line.resize(line_bytes - 1, ' ');
  return line + "\n";
}

std::optional<Head> head_in(std::string_view line) {
  const std::vector<std::string_view> words = split(trim(line), ' ');
  if (words.size() != 6) return std::nullopt;
  std::array<std::int64_t, 4> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = parse_number<std::int64_t>(words[i]);
    if (!number) return std::nullopt;
    numbers.at(i) = *number;
  }
  Head head{numbers[0], numbers[1], numbers[2], numbers[3],
            words[4] == "-" ? "" : std::string(words[4])};
  if (line_of(head) != line) return std::nullopt;
  return head;
}

tl::unexpected<Error> failed(const std::string& path) {
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace

Head head_of(Database& database) {
  Head head;
  if (Query row(database, "SELECT epoch, next_action, head_sequence, head_hash FROM state");
      row.next())
    head = {0, row.integer(0), row.integer(1), row.integer(2), row.text(3)};
  Query row(database, "SELECT CAST(value AS INTEGER) FROM kept WHERE name = ?");
  if (row.bind(counter_name).next()) head.changes = row.integer(0);
  return head;
}

void count_change(Database& database) {
  Query(database,
        "INSERT INTO kept VALUES (?, '1') ON CONFLICT DO UPDATE SET "
        "value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)")
      .bind(counter_name)
      .run();
}

std::string lost_since(const Head& head, Database& database) {
  const Head now = head_of(database);
  if (now.changes < head.changes || now.sequence < head.sequence || now.epoch < head.epoch)
    return fmt::format("it has gone back: it holds {} changes, {} were on record", now.changes,
                       head.changes);
  Query row(database,
            "SELECT hash FROM audit WHERE sequence = ?1 UNION ALL "
            "SELECT floor_hash FROM state WHERE floor_sequence = ?1");
  // One that was compacted with what stood behind it is known no more.
  if (row.bind(head.sequence).next() && row.text(0) != head.hash)
    return fmt::format("its entry {} is another one than was on record", head.sequence);
  return "";
}

Result<HeadFile> HeadFile::open(const std::string& path) {
  auto file = open_own_file(path, O_RDWR);
  if (!file) return tl::unexpected(file.error());
  return HeadFile(path, std::move(*file));
}

Result<std::optional<Head>> HeadFile::read_of(const std::string& journal) {
  const std::string path = head_path(journal);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) return failed(path);
  return HeadFile(path, std::move(file)).read();
}

Result<std::optional<Head>> HeadFile::read() const {
  std::array<char, line_bytes + 1> bytes{};
  const ssize_t got = ::pread(file_.number(), bytes.data(), bytes.size(), 0);
  if (got < 0) return failed(path_);
  if (got == 0) return std::nullopt;
  auto head = head_in({bytes.data(), static_cast<std::size_t>(got)});
  if (!head) return fail(ErrorCode::invalid, path_ + " is damaged");
  return head;
}

Result<void> HeadFile::write(const Head& head) {
  const std::string line = line_of(head);
  const ssize_t written = ::pwrite(file_.number(), line.data(), line.size(), 0);
  if (written != static_cast<ssize_t>(line.size())) return failed(path_);
  return {};
}

Result<void> HeadFile::sync() {
  if (::fsync(file_.number()) != 0) return failed(path_);
  return {};
}

}  // namespace schedmate::journal
