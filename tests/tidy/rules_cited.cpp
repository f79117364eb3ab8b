// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>

#include "base/text.hpp"
#include "tests/tidy/code.hpp"
#include "tests/tidy/rules.hpp"

namespace schedmate::tidy {
namespace {

/// Lines that begin with '#' in what has such comments, all else blank.
std::string hash_comments(std::string_view text) {
  std::string out;
  for (const auto line : split(text, '\n')) {
    if (trim(line).starts_with('#')) out += line;
    out += '\n';
  }
  return out;
}

bool has_hash_comments(const File& file) {
  static constexpr std::string_view endings[] = {
      ".sh", ".py", ".toml", ".cmake", "CMakeLists.txt", "Makefile"};
  return file.text.starts_with("#!") || std::ranges::any_of(endings, [&](std::string_view ending) {
           return file.path.ends_with(ending);
         });
}

/// What is written for people: a page, or the comments of a program.
std::string prose_of(const File& file) {
  if (is_markdown(file)) return file.text;
  if (is_cpp(file) || file.path.ends_with(".def") || file.path.ends_with(".inc"))
    return blank_non_comments(file.text);
  return has_hash_comments(file) ? hash_comments(file.text) : "";
}

/// NAME.md and AGENTS.md stand for the files of others.
bool is_placeholder(const std::filesystem::path& cited) {
  const auto stem = cited.stem().string();
  return std::ranges::none_of(stem, [](unsigned char c) { return std::islower(c) != 0; });
}

class Cited {
 public:
  explicit Cited(const Tree& tree) {
    for (const auto& file : tree.files) paths_.insert(file.path);
  }

  /// From the root of the tree, or from the folder of the file that cites.
  [[nodiscard]] bool leads_somewhere(const File& from, const std::string& name) const {
    const std::filesystem::path cited(name.starts_with('/') ? name.substr(1) : name);
    const auto beside = std::filesystem::path(from.path).parent_path() / cited;
    return is_placeholder(cited) || paths_.contains(cited.lexically_normal().generic_string()) ||
           paths_.contains(beside.lexically_normal().generic_string());
  }

 private:
  std::set<std::string> paths_;
};

Findings citations_of(const Cited& cited, const File& file) {
  static const std::regex page(R"([\w./-]*\w\.md\b)");
  static const std::regex design(R"(\bdesign(\.md)? (section )?\d[\d.]*)");
  Findings found;
  int line = 0;
  const auto prose = prose_of(file);
  for (const auto text : split(prose, '\n')) {
    ++line;
    std::cmatch match;
    if (text.contains("design") && std::regex_search(text.begin(), text.end(), match, design)) {
      found.push_back({file.path, line, "cites a text that is not here: " + match[0].str(),
                       "cite the paper with its section, or a page of docs/"});
    }
    if (!text.contains(".md")) continue;
    for (std::cregex_iterator each(text.begin(), text.end(), page), end; each != end; ++each) {
      const auto name = (*each)[0].str();
      const bool is_label = (*each).suffix().str().starts_with("](");  // of a link, checked as such
      if (is_label || cited.leads_somewhere(file, name)) continue;
      found.push_back({file.path, line, "cites a page that is not here: " + name,
                       "cite the paper with its section, or a page as docs/... from the root"});
    }
  }
  return found;
}

}  // namespace

Findings check_citations(const Tree& tree) {
  const Cited cited(tree);
  Findings found;
  for (const auto& file : tree.files) {
    if (is_foreign(file)) continue;
    const auto more = citations_of(cited, file);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace schedmate::tidy
