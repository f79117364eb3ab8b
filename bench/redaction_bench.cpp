// SPDX-License-Identifier: Apache-2.0

/// Redaction over folders of real files: how fast, how many lines, and every line that changed, to
/// be looked at.
///
///   redaction_bench LIST DIR...   writes PATH:LINE, the line before and after, to LIST

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/input.hpp"
#include "base/text.hpp"
#include "bench/watch.hpp"
#include "secrets/redact.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20U;  ///< the most that a tree reads

struct Sums {
  std::size_t files = 0, lines = 0, bytes = 0, changed = 0, marks = 0;
  double seconds = 0;
};

std::size_t marks_in(std::string_view line) {
  std::size_t count = 0;
  for (std::size_t at = line.find(secrets::redaction_mark); at != std::string_view::npos;
       at = line.find(secrets::redaction_mark, at + 1))
    ++count;
  return count;
}

void compare(const std::string& path, const std::string& text, std::ofstream& list, Sums& sums) {
  const bench::Watch watch;
  const std::string clean = secrets::redact(text);
  sums.seconds += watch.cpu_ms() / 1e3;
  const auto before = split(text, '\n');
  const auto after = split(clean, '\n');
  ++sums.files;
  sums.bytes += text.size();
  sums.lines += before.size();
  if (clean == text) return;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    if (before[i] == after[i]) continue;
    ++sums.changed;
    sums.marks += marks_in(after[i]) - marks_in(before[i]);
    list << path << ':' << i + 1 << '\n'
         << "  - " << before[i].substr(0, 300) << '\n'
         << "  + " << after[i].substr(0, 300) << '\n';
  }
}

int run(std::span<char*> words) {
  std::ofstream list(words[0]);
  Sums sums;
  for (char* const folder : words.subspan(1)) {
    std::error_code error;
    for (fs::recursive_directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
      if (!each->is_regular_file(error) || each->is_symlink(error)) continue;
      const auto text = read_file(each->path().string(), most_bytes);
      if (!text || text->find('\0') != std::string::npos) continue;
      compare(each->path().string(), *text, list, sums);
    }
  }
  const auto megabytes = static_cast<double>(sums.bytes) / 1e6;
  fmt::print("{} files, {} lines, {:.1f} MB, {:.1f} MB/s\n", sums.files, sums.lines, megabytes,
             megabytes / sums.seconds);
  fmt::print("{} lines changed, {} redactions\n", sums.changed, sums.marks);
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  if (words.size() >= 3) return schedmate::run(words.subspan(1));
  fmt::print(stderr, "usage: redaction_bench LIST DIR...\n");
  return 2;
}
