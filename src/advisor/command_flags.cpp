// SPDX-License-Identifier: Apache-2.0
#include "advisor/command_flags.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

namespace schedmate::advisor {
namespace {

constexpr std::string_view marks = ";&|()\n";

/// Splits at white space; quotes and backslashes as a shell has them; marks such as ';' are parts
/// of their own.
std::vector<std::string> split_words(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;  // a word has begun, be it an empty one in quotes
  char quote = 0;
  const auto end_word = [&] {
    if (open) words.push_back(std::move(word));
    word.clear();
    open = false;
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < command.size();
    if (escapes && command[i + 1] == '\n') {
      ++i;
    } else if (escapes) {
      word += command[++i];
      open = true;
    } else if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote != 0 ? '\0' : c;
      open = true;
    } else if (quote == 0 && std::string_view(" \t\r").contains(c)) {
      end_word();
    } else if (quote == 0 && marks.contains(c)) {
      end_word();
      words.emplace_back(1, c);
    } else {
      word += c;
      open = true;
    }
  }
  end_word();
  return words;
}

bool is_mark(std::string_view word) { return word.size() == 1 && marks.contains(word.front()); }

/// "-3" and "-1e-4" are values.
bool is_flag(std::string_view word) {
  if (word.size() < 2 || word.front() != '-') return false;
  return word[1] == '-' ? word.size() > 2 : !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

/// Where "key" ends in "key=value", "+key=value", "VAR=value"; npos when it is no such word.
std::size_t end_of_key(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return std::string_view::npos;
  const bool is_key = std::ranges::all_of(word.substr(0, equals), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.-+/@~").contains(c);
  });
  return is_key ? equals : std::string_view::npos;
}

std::string bare(std::string_view name) {
  const std::size_t start = name.find_first_not_of("-+~");
  return std::string(start == std::string_view::npos ? name : name.substr(start));
}

/// Options of sbatch that take no value.
bool is_sbatch_switch(std::string_view word) {
  constexpr std::array<std::string_view, 25> switches = {"--parsable",      "--exclusive",
                                                         "--hold",          "-H",
                                                         "--requeue",       "--no-requeue",
                                                         "--wait",          "-W",
                                                         "--quiet",         "-Q",
                                                         "--verbose",       "-v",
                                                         "--overcommit",    "-O",
                                                         "--oversubscribe", "-s",
                                                         "--no-kill",       "-k",
                                                         "--contiguous",    "--spread-job",
                                                         "--ignore-pbs",    "--use-min-nodes",
                                                         "--test-only",     "--reboot",
                                                         "--get-user-env"};
  return std::ranges::find(switches, word) != switches.end();
}

/// Of `sbatch OPTIONS script.sh ARGUMENTS` script and arguments; of `sbatch --wrap COMMAND` its
/// words. Other commands as they are.
std::vector<std::string> unsubmitted(std::vector<std::string> words) {
  constexpr std::string_view wrap = "--wrap";
  if (words.empty() || (words[0] != "sbatch" && !words[0].ends_with("/sbatch"))) return words;
  std::size_t at = 1;
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    const std::string& word = words[at];
    if (word.starts_with(std::string(wrap) + "=")) return split_words(word.substr(wrap.size() + 1));
    const bool has_next = at + 1 < words.size();
    if (word == wrap && has_next) return split_words(words[at + 1]);
    const bool is_long = word.starts_with("--");
    const bool value_apart =
        is_long ? !word.contains('=') && !is_sbatch_switch(word) : word.size() == 2;
    if (value_apart && has_next && !is_sbatch_switch(word)) ++at;
  }
  if (at >= words.size()) return words;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
  return words;
}

/// "./train.sh" and "train.sh" are one file, and so is "/FOLDER/train.sh"; other words stay.
std::string plain_path(const std::string& word, std::string_view folder) {
  namespace fs = std::filesystem;
  if (word.starts_with('/') && !folder.empty()) {
    const auto inside = fs::path(word).lexically_relative(fs::path(folder).lexically_normal());
    const bool below =
        !inside.empty() && inside.native() != "." && !inside.native().starts_with("..");
    return below ? inside.string() : word;
  }
  const bool is_path = is_script(word) || word.starts_with("./") || word.starts_with("../");
  return is_path ? fs::path(word).lexically_normal().string() : word;
}

class Reader {
 public:
  Reader(std::vector<std::string> words, const FlagRules& rules, std::string_view folder)
      : words_(std::move(words)), rules_(rules), folder_(folder) {}

  CommandFlags read() {
    for (at_ = 0; at_ < words_.size(); ++at_) take(words_[at_]);
    CommandFlags result;
    for (auto& [name, value] : flags_) result.flags.push_back({name, std::move(value)});
    result.words = std::move(plain_);
    const auto script = std::ranges::find_if(result.words, is_script);
    if (!module_.empty())
      result.entry = module_;
    else if (script != result.words.end())
      result.entry = *script;
    else if (!result.words.empty())
      result.entry = result.words.front();
    return result;
  }

 private:
  void take(const std::string& word) {
    if (const std::size_t equals = end_of_key(word); equals != std::string_view::npos) {
      add(word.substr(0, equals), word.substr(equals + 1));
    } else if (is_flag(word)) {
      const bool has_value = at_ + 1 < words_.size() && is_value(words_[at_ + 1]);
      const std::string value = has_value ? words_[++at_] : "";
      const bool names_module = word == "-m" || word == "--module";
      if (names_module && rules_.is_launcher(value)) return;
      if (names_module && has_value && module_.empty())
        module_ = value;
      else
        add(word, value);
    } else if (!is_mark(word) && !rules_.is_launcher(word)) {
      plain_.push_back(plain_path(word, folder_));
    }
  }

  [[nodiscard]] bool is_value(const std::string& word) const {
    return !is_flag(word) && !is_mark(word) && !is_script(word) && !rules_.is_launcher(word) &&
           end_of_key(word) == std::string_view::npos;
  }

  void add(std::string_view name, std::string_view value) {
    const auto [at, fresh] = flags_.emplace(bare(name), value);
    if (!fresh) at->second.append(" ").append(value);
  }

  std::vector<std::string> words_;
  const FlagRules& rules_;
  std::string_view folder_;
  std::size_t at_ = 0;
  std::map<std::string, std::string> flags_;
  std::vector<std::string> plain_;
  std::string module_;
};

}  // namespace

bool is_shell_script(std::string_view word) {
  return word.ends_with(".sh") || word.ends_with(".slurm") || word.ends_with(".sbatch");
}

bool is_script(std::string_view word) { return word.ends_with(".py") || is_shell_script(word); }

CommandFlags read_command_flags(std::string_view command, const FlagRules& rules,
                                std::string_view folder) {
  return Reader(unsubmitted(split_words(command)), rules, folder).read();
}

std::string without_submission(std::string_view command) {
  const auto words = split_words(command);
  const auto started = unsubmitted(words);
  if (started == words) return std::string(command);
  std::string text;
  for (const std::string& word : started) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string folder_of(std::string_view root, std::string_view workdir) {
  return (std::filesystem::path(root) / workdir).lexically_normal().string();
}

std::string normal_command(std::string_view command, const FlagRules& rules) {
  const CommandFlags flags = read_command_flags(command, rules);
  std::string normal = flags.entry;
  for (const std::string& word : flags.words) normal += '\n' + word;
  for (const GivenFlag& flag : flags.flags) {
    const FlagRule* rule = rules.find(flag.name);
    if (rule != nullptr && rule->flag_class <= FlagClass::same_duration) continue;
    normal += "\n--" + flag.name + '=' + flag.value;
  }
  return normal;
}

}  // namespace schedmate::advisor
