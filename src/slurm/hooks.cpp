// SPDX-License-Identifier: Apache-2.0
#include "slurm/hooks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "slurm/conf_lines.hpp"

namespace schedmate::slurm {
namespace {

constexpr std::string_view begin_mark = "# schedmate: begin ";
constexpr std::string_view end_mark = "# schedmate: end";
constexpr std::string_view was_mark = "#was ";
constexpr std::string_view unended_word = " unended";
constexpr std::string_view plugins_key = "jobsubmitplugins";
constexpr std::string_view epilog_key = "epilogslurmctld";

std::string_view line_end_of(std::string_view text) {
  const std::size_t first = text.find('\n');
  return first != std::string_view::npos && first > 0 && text[first - 1] == '\r' ? "\r\n" : "\n";
}

std::string hash_of(std::string_view body) {
  std::string bytes(body);
  std::erase(bytes, '\r');
  return fmt::format("{:016x}", hash_bytes(bytes));
}

/// `is_unended`: the file did not end with a line end before.
std::string sealed_block(const std::string& body, std::string_view eol, bool is_unended) {
  return fmt::format("{}{}{} - remove with: schedmate slurm uninstall{}{}{}{}", begin_mark,
                     hash_of(body), is_unended ? unended_word : "", eol, body, end_mark, eol);
}

/// The last of the file; it is the one that counts.
struct Found {
  ConfLine line;
  ConfValue value;
};
std::optional<Found> last_of(std::string_view text, std::string_view key) {
  std::optional<Found> found;
  for (ConfLine& line : conf_lines(text))
    for (const ConfValue& value : line.values)
      if (value.key == key) found = Found{line, value};
  return found;
}

/// The line again, with `added` behind a value; above it what stood there.
std::string with_change(const std::string& text, const Found& found, std::string_view added) {
  const std::string_view eol = line_end_of(text);
  const std::string before = text.substr(found.line.begin, found.line.end - found.line.begin);
  std::string after = before, body;
  after.insert(found.value.end - found.line.begin, added);
  const bool is_unended = !before.ends_with('\n');
  for (const std::string_view line : whole_lines(before))
    body += fmt::format("{}{}", was_mark, line);
  if (is_unended) body += eol;
  body += after;
  if (is_unended) body += eol;
  return text.substr(0, found.line.begin) + sealed_block(body, eol, is_unended) +
         text.substr(found.line.end);
}

std::string with_lines(const std::string& text, const std::string& body, std::string_view eol) {
  const bool is_unended = !text.ends_with('\n');
  return text + std::string(is_unended ? eol : "") + sealed_block(body, eol, is_unended);
}

Result<void> check_value(const Found& found, std::string_view name) {
  if (found.value.is_plain && found.value.end > 0) return {};
  return fail(ErrorCode::invalid,
              fmt::format("line {}: cannot tell what {} is; write it as {}=VALUE",
                          found.line.number, name, name));
}

Result<void> check_includes(const std::string& text, const ReadInclude& read, int depth) {
  constexpr int deepest = 10;
  for (const ConfLine& line : conf_lines(text)) {
    if (line.include.empty()) continue;
    if (depth == deepest)
      return fail(ErrorCode::invalid, "files include each other more than ten deep");
    const auto part = read(line.include);
    if (!part)
      return fail(part.error().code,
                  fmt::format("line {} includes {}, which must be read to tell whether it sets "
                              "JobSubmitPlugins or EpilogSlurmctld: {}",
                              line.number, line.include, part.error().message));
    for (const ConfLine& inner : conf_lines(*part))
      for (const ConfValue& value : inner.values)
        if (value.key == plugins_key || value.key == epilog_key)
          return fail(ErrorCode::conflict,
                      fmt::format("{}:{} sets {}: move that line to slurm.conf itself, which alone "
                                  "is changed here",
                                  line.include, inner.number, value.key));
    if (auto fine = check_includes(*part, read, depth + 1); !fine) return fine;
  }
  return {};
}

/// A block of ours, in lines.
struct Block {
  std::string seal, body, was;
  bool is_unended = false;
};

Result<Block> read_block(std::string_view head, std::size_t number) {
  Block block;
  const std::string_view said = trim(head.substr(begin_mark.size()));
  block.seal = said.substr(0, said.find(' '));
  block.is_unended = said.substr(block.seal.size()).starts_with(unended_word);
  if (!block.seal.empty()) return block;
  return fail(ErrorCode::conflict,
              fmt::format("line {}: a mark of SchedMate without its seal", number));
}

tl::unexpected<Error> broken_block(std::size_t number, std::string_view what) {
  return fail(ErrorCode::conflict,
              fmt::format("line {}: {}; set these lines as they are to be, remove the marks "
                          "\"# schedmate: ...\" and \"#was ...\", and call it again",
                          number, what));
}

}  // namespace

Result<std::string> with_hooks(const std::string& text, const ConfHooks& hooks,
                               const ReadInclude& read_include) {
  if (trim(text).empty()) return fail(ErrorCode::invalid, "is empty, so no slurm.conf");
  if (text.contains('\0')) return fail(ErrorCode::invalid, "holds a zero byte, so no slurm.conf");
  if (auto fine = check_includes(text, read_include, 0); !fine) return tl::unexpected(fine.error());
  const std::string_view eol = line_end_of(text);
  std::string result = text, lines;
  if (const auto found = last_of(text, plugins_key); hooks.lua && found) {
    if (auto fine = check_value(*found, "JobSubmitPlugins"); !fine)
      return tl::unexpected(fine.error());
    const std::string_view added = found->value.value.ends_with(',') ? "lua" : ",lua";
    if (!loads_lua(found->value.value)) result = with_change(result, *found, added);
  } else if (hooks.lua) {
    lines += fmt::format("JobSubmitPlugins=lua{}", eol);
  }
  if (const auto found = last_of(text, epilog_key); !hooks.epilog.empty() && found) {
    if (found->value.value != hooks.epilog)
      return fail(ErrorCode::conflict,
                  fmt::format("line {}: EpilogSlurmctld is {} already, and Slurm takes one; leave "
                              "this hook out, or call {} from there",
                              found->line.number, found->value.value, hooks.epilog));
  } else if (!hooks.epilog.empty()) {
    lines += fmt::format("EpilogSlurmctld={}{}", hooks.epilog, eol);
  }
  return lines.empty() ? result : with_lines(result, lines, eol);
}

Result<std::string> without_hooks(const std::string& text) {
  std::string result;
  std::optional<Block> block;
  std::size_t number = 0, begun = 0;
  std::optional<std::size_t> unended;  // behind which the file had no line end
  for (const std::string_view line : whole_lines(text)) {
    ++number;
    if (line.starts_with(begin_mark)) {
      if (block) return broken_block(begun, "a block of SchedMate's has no end");
      auto read = read_block(line, number);
      if (!read) return tl::unexpected(read.error());
      block = std::move(*read);
      begun = number;
    } else if (trim(line) == end_mark) {
      if (!block) return broken_block(number, "a block of SchedMate's has no begin");
      if (hash_of(block->body) != block->seal)
        return broken_block(begun, "somebody changed what stands between SchedMate's marks");
      result += block->was;
      if (block->is_unended) unended = result.size();
      block.reset();
    } else if (block) {
      block->body += line;
      if (line.starts_with(was_mark)) block->was += line.substr(was_mark.size());
    } else {
      result += line;
    }
  }
  if (block) return broken_block(begun, "a block of SchedMate's has no end");
  // What people added behind the last line needs its end; if they added nothing, there was none.
  if (unended == result.size() && result.ends_with('\n'))
    result.resize(result.size() - (result.ends_with("\r\n") ? 2 : 1));
  return result;
}

bool loads_lua(std::string_view plugins) {
  return std::ranges::any_of(split(plugins, ','), [](std::string_view each) {
    each = trim(each);
    return each == "lua" || each == "job_submit/lua";
  });
}

std::string conf_value(std::string_view text, std::string_view key) {
  const auto found = last_of(text, key);
  return found ? found->value.value : "";
}

}  // namespace schedmate::slurm
