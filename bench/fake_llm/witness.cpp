// SPDX-License-Identifier: Apache-2.0
#include "bench/fake_llm/witness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "base/input.hpp"
#include "base/text.hpp"

namespace schedmate::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 1 << 20;

const std::map<std::string, std::vector<std::string>>& hints() {
  static const std::map<std::string, std::vector<std::string>> words = {
      {"model_name", {"model", "arch", "net", "backbone", "init_from"}},
      {"dataset", {"data", "env", "train_"}},
      {"distributed", {"parallel", "ddp", "fsdp", "strategy", "stage", "gpu", "torchrun"}},
      {"batch_size", {"batch", "bs"}},
      {"length", {"epoch", "iter", "step"}},
      {"precision", {"precision", "dtype", "amp", "fp16", "bf16"}},
      {"optimizer", {"optim"}},
      {"params_scale", {"model", "size"}},
      {"pretrained", {"pretrain", "weights", "init", "finetune", "load"}},
      {"framework", {"import"}}};
  return words;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string letters(std::string_view text) {
  std::string out;
  for (const char c : lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += c;
  }
  return out;
}

bool ends_as(std::string_view file, std::initializer_list<std::string_view> suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view one) { return file.ends_with(one); });
}

bool is_code(std::string_view file) {
  return ends_as(file, {".py", ".sh", ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".gin"});
}

bool is_comment(std::string_view line) {
  const std::string_view text = trim(line);
  return text.starts_with('#') || text.starts_with("//") || text.starts_with("\"\"\"");
}

/// The value's number stands in the line by itself.
bool has_number(std::string_view line, std::string_view number) {
  for (std::size_t at = line.find(number); at != std::string_view::npos;
       at = line.find(number, at + 1)) {
    const auto part_of = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    };
    const std::size_t end = at + number.size();
    if ((at == 0 || !part_of(line[at - 1])) && (end == line.size() || !part_of(line[end]))) {
      return true;
    }
  }
  return false;
}

/// How a value may be written in a line.
std::vector<std::string> tokens_of(const std::string& field, const std::string& value) {
  if (field == "pretrained" && value == "true") return {"true", "from_pretrained", "pretrained"};
  if (field == "pretrained") return {"false", "none", "null", "scratch"};
  if (field == "distributed" && value == "ddp") return {"distributeddataparallel", "ddp"};
  if (field == "distributed" && value == "dp") return {"dataparallel", "multi_gpu"};
  if (field == "distributed" && value.starts_with("deepspeed-zero")) return {"stage"};
  if (field == "precision" && value.starts_with("bf16")) return {"bf16", "bfloat16"};
  if (field == "precision" && value.starts_with("fp16")) return {"fp16", "float16", "gradscaler"};
  if (field == "precision") return {"fp32", "float32"};
  if (field == "framework" && value == "pytorch") return {"torch"};
  return {lower(value)};
}

bool holds(const std::string& line, const std::string& field, const std::string& value) {
  const std::string text = lower(line);
  if (field == "batch_size" || field == "length") {
    const std::string number = value.substr(0, value.find(' '));
    std::string plain = text;
    std::erase(plain, '_');
    return has_number(plain, number) || has_number(text, number);
  }
  const std::string joined = letters(line);
  for (const std::string& token : tokens_of(field, value)) {
    const std::string wanted = letters(token.substr(0, token.find('(')));
    if (wanted.size() >= 2 && joined.find(wanted) != std::string::npos) return true;
  }
  return false;
}

bool hinted(const std::string& line, const std::string& field) {
  const auto found = hints().find(field);
  if (found == hints().end()) return lower(line).find(field) != std::string::npos;
  return std::ranges::any_of(found->second, [text = lower(line)](const std::string& word) {
    return text.find(word) != std::string::npos;
  });
}

}  // namespace

Library::Library(const std::string& tree) {
  std::error_code failed;
  fs::recursive_directory_iterator entry(tree, failed), end;
  for (; entry != end; entry.increment(failed)) {
    if (failed) break;
    const std::string file = fs::relative(entry->path(), tree).string();
    if (entry->is_directory() && entry->path().filename() == ".git") {
      entry.disable_recursion_pending();
      continue;
    }
    const bool text = is_code(file) || ends_as(file, {".md", ".txt", ".rst"});
    if (!text || !entry->is_regular_file(failed) || entry->file_size(failed) > largest_file)
      continue;
    const auto content = read_file(entry->path().string());
    if (!content) continue;
    Text kept{.file = file, .lines = {}};
    for (const std::string_view line : split(*content, '\n')) kept.lines.emplace_back(line);
    texts_.push_back(std::move(kept));
  }
  std::ranges::sort(texts_, {}, &Text::file);
}

Citation Library::proof(const LabelledJob& job, const std::string& field,
                        const std::string& value) const {
  if (holds(job.command, field, value) && hinted(job.command, field)) return {"<command>", 1};
  Citation best;
  int best_score = 0;
  for (const Text& text : texts_) {
    if (!is_code(text.file)) continue;
    const bool key = std::ranges::find(job.key_files, text.file) != job.key_files.end();
    for (std::size_t i = 0; i < text.lines.size(); ++i) {
      const std::string& line = text.lines[i];
      if (line.size() > 1000 || is_comment(line) || !holds(line, field, value)) continue;
      const std::string plain = lower(line);
      const bool sets =
          plain.find('=') != std::string::npos || plain.find(':') != std::string::npos;
      const bool other = plain.find("test") != std::string::npos ||
                         plain.find("eval") != std::string::npos ||
                         plain.find("val_") != std::string::npos;
      const int score =
          (key ? 8 : 0) + (hinted(line, field) ? 4 : 0) + (sets ? 2 : 0) - (other ? 3 : 0);
      if (score <= best_score) continue;
      best_score = score;
      best = {text.file, static_cast<int>(i) + 1};
    }
  }
  return best;
}

Citation Library::trap(const LabelledJob& job, Ruse ruse, const std::string& field,
                       const std::string& value) const {
  if (ruse == Ruse::likely) return proof(job, field, value);
  for (const Text& text : texts_) {
    const bool key = std::ranges::find(job.key_files, text.file) != job.key_files.end();
    if ((ruse == Ruse::prose) == is_code(text.file)) continue;
    if (ruse == Ruse::other_number && !key) continue;
    for (std::size_t i = 0; i < text.lines.size(); ++i) {
      const std::string& line = text.lines[i];
      if (line.size() > 1000 || !holds(line, field, value)) continue;
      if (ruse == Ruse::comment && !is_comment(line)) continue;
      if (ruse == Ruse::other_number && hinted(line, field)) continue;
      return {text.file, static_cast<int>(i) + 1};
    }
  }
  return {};
}

std::string wrong_value(const std::vector<LabelledJob>& jobs, const LabelledJob& job,
                        const std::string& field, std::uint64_t drawn) {
  const auto own = job.labels.find(field);
  std::set<std::string> others;
  for (const LabelledJob& other : jobs) {
    const auto label = other.labels.find(field);
    if (label == other.labels.end()) continue;
    if (own == job.labels.end() || letters(label->second) != letters(own->second)) {
      others.insert(label->second);
    }
  }
  if (others.empty()) return {};
  auto chosen = others.begin();
  std::advance(chosen, static_cast<std::ptrdiff_t>(drawn % others.size()));
  return *chosen;
}

}  // namespace schedmate::bench
