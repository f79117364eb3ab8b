// SPDX-License-Identifier: Apache-2.0
#include "log/lines/said_words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate::lines {
namespace {

/// Words that report what a log says. None of them is a name, or tells anybody to do anything.
constexpr std::string_view plain_words =
    "a about above according accuracy across after again all allocated allocation almost "
    "already also an and another any apart appear appears are argument arguments around "
    "as at available average based batch batches be became because become been before "
    "began begin beginning begins behind being below beside between both but by bytes "
    "came can can't cannot cause caused causes causing checkpoint checkpointing "
    "checkpoints code collective come comes communication complete completed consists "
    "contain contains could couldn't count crash crashed crashes current currently data "
    "decreased decreases decreasing device devices did didn't different disk do does "
    "doesn't don't done down due during each earlier either empty end ended ends enough "
    "entry epoch epochs equal error errors even ever every exact exactly except "
    "exception exceptions exit exited fail failed fails failure failures fast few file "
    "files finally find finished first five follow followed following follows for found "
    "four from full further gave get gets give given gives goes gone got gpu gpus had "
    "hardware has have he hence higher hour hours how however if in increased increases "
    "increasing indicate indicated indicates indicating information into invalid is "
    "isn't it it's iteration iterations its itself job jobs just known knows last lasted "
    "later latest learning least less library limit line lines listed lists loaded "
    "loading log logs longer loss lower made main makes many means memory mention "
    "mentioned mentions message messages metric metrics minute minutes missing model "
    "models more most much name named names near nearly neither network never new newest "
    "next no nor not nothing now number numbers occur occurred occurs of off old on once "
    "one only onto optimizer or other others out output over own parameter parameters "
    "part per perhaps place point possible possibly present previous print printed "
    "prints probably process processes program progress proof prove proves question "
    "quite raised raises ran rank ranks rate rather reach reached reaches read reads reason "
    "reasons recent remain remaining remains report reported reports result results "
    "right run running runs said same saved saves saving saw say saying says script "
    "second seconds seed seem seems seen set setting settings several shape shapes show "
    "showed showing shown shows since single size slow small so software some something "
    "soon speed start started starts state stated states step steps still stop stopped "
    "stops storage such tell tells than that that's the their them then there there's "
    "therefore these they third this those three through throughout throughput thus time "
    "timeout times to together told too took total toward trace traceback train trained "
    "training trains two unavailable under unexpected unknown until up upon use used "
    "user uses using usual validation value values version versions very warning "
    "warnings was wasn't way we well went were weren't what when where whether which "
    "while who whole whose why will with within without won't word words would written "
    "yes yet";

/// Advice and commands, which must stand in a cited line even when the question has them.
constexpr std::string_view acting_words =
    "apt apt-get ask blacklist call cancel change chmod chown click conda contact copy "
    "cordon curl dd decrease delete deploy disable download drain drained edit email "
    "enable enter evict exclude execute export halt hold increase install isolate kill "
    "launch lower mail move must mv need needs notify open paste ping pip please "
    "poweroff raise reboot reduce release remove replace requeue rerun reset restart "
    "restarted resubmit rm rmdir run sbatch scancel scontrol scp send set should "
    "shutdown sinfo squeue srun ssh stop su sudo switch tell terminate try type "
    "uninstall unset upload use visit wget yum";

using WordList = std::unordered_set<std::string_view>;

WordList list_of(std::string_view words) {
  WordList list;
  for (const auto word : split(words, ' '))
    if (!word.empty()) list.insert(word);
  return list;
}

/// After these a name of a machine comes.
bool introduces_machine(std::string_view word) {
  constexpr auto words = std::to_array<std::string_view>(
      {"node", "nodes", "host", "hosts", "hostname", "machine", "machines", "server", "servers",
       "worker", "workers", "nodelist", "instance", "instances", "nodename"});
  return std::ranges::find(words, word) != words.end();
}

bool is_inner(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view stripped(std::string_view token) {
  const auto outer = [](char c) { return !is_inner(c) && c != '/' && c != '~' && c != '$'; };
  while (!token.empty() && outer(token.front())) token.remove_prefix(1);
  while (!token.empty() && !is_inner(token.back())) token.remove_suffix(1);
  return token;
}

/// As a token of its own: "n7" is none of "n77".
bool stands_in(std::string_view line, std::string_view token) {
  for (auto at = line.find(token); at != std::string_view::npos; at = line.find(token, at + 1)) {
    const auto end = at + token.size();
    if ((at == 0 || !is_inner(line[at - 1])) && (end == line.size() || !is_inner(line[end])))
      return true;
  }
  return false;
}

bool is_number(std::string_view token) {
  return std::ranges::all_of(token, [](char c) { return is_digit(c) || c == '.' || c == ','; }) &&
         std::ranges::count(token, '.') < 2;
}

bool is_plain_word(std::string_view token) {
  return std::ranges::all_of(token, [](char c) { return is_letter(c) || c == '\''; });
}

/// "0.25s", "16GiB": a number with a unit.
bool is_quantity(std::string_view token) {
  constexpr auto units = std::to_array<std::string_view>(
      {"s",  "ms",  "h",  "min",  "m",    "d", "%", "gib", "mib", "kib", "gb", "mb",
       "kb", "tib", "tb", "it/s", "s/it", "k", "x", "st",  "nd",  "rd",  "th"});
  const auto end = token.find_first_not_of("0123456789.,");
  if (end == 0 || end == std::string_view::npos) return false;
  return std::ranges::find(units, token.substr(end)) != units.end();
}

/// "n7", "victim-77", "10.0.0.7": may be a machine. A path, a file and "gpu 0" are none.
bool may_be_machine(std::string_view token) {
  constexpr auto others = std::to_array<std::string_view>(
      {"rank",   "gpu", "cuda",       "step",        "epoch",   "iter", "line",  "layer",  "fp",
       "bf",     "int", "uint",       "float",       "xid",     "sxid", "errno", "signal", "torch",
       "python", "sm",  "checkpoint", "global_step", "version", "v",    "stage", "seed"});
  if (token.contains('/') || token.contains('=') || token.contains('(')) return false;
  const bool address =
      std::ranges::count(token, '.') == 3 &&
      std::ranges::all_of(token, [](char c) { return is_digit(c) || c == '.' || c == ':'; });
  if (address) return true;
  const auto digit = token.find_first_of("0123456789");
  if (digit == std::string_view::npos || !is_letter(token.front())) return false;
  auto head = token.substr(0, digit);
  while (head.ends_with('-') || head.ends_with('_') || head.ends_with(':')) head.remove_suffix(1);
  return std::ranges::find(others, head) == others.end();
}

class Check {
 public:
  explicit Check(const SaidWords& said) : said_(said), question_(lower_case(said.question)) {
    for (const auto line : said.cited) cited_.push_back(lower_case(line));
    for (const auto& node : said.nodes) nodes_.push_back(lower_case(node));
  }

  std::string run() {
    std::string text = lower_case(said_.text);
    std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    for (const auto part : split(text, ' ')) {
      const auto token = stripped(part);
      if (token.empty()) {
        if (part.find_first_of("$`\\|<>;&") != std::string_view::npos)
          return "it has signs of a command";
        continue;
      }
      if (auto fault = fault_of(token); !fault.empty()) return fault;
    }
    return "";
  }

 private:
  std::string fault_of(std::string_view token) {
    const bool named = std::exchange(machine_next_, introduces_machine(token));
    if (introduces_machine(token))
      return stands_in_cited(token) || plain_question(token) ? "" : unproven;
    if (is_number(token) || is_quantity(token)) return "";
    const bool own = of_allocation(token);
    if (may_be_machine(token) && !own && !is_known_thing(token))
      return "it names a machine that is not of the job's allocation";
    if (is_plain_word(token) && plain_.contains(token) && !acting_.contains(token)) {
      machine_next_ = named && skips_.contains(token);
      return "";
    }
    if (named && !own) return "it names a machine that is not of the job's allocation";
    if (own || stands_in_cited(token)) return "";
    if (plain_question(token)) return "";
    return every_part(token) ? "" : unproven;
  }

  /// A token with a digit that a cited line calls something else than a machine: "float16", "a100".
  [[nodiscard]] bool is_known_thing(std::string_view token) const {
    constexpr auto kinds = std::to_array<std::string_view>(
        {"a100", "h100", "h200", "v100", "b200", "a10", "t4", "p100", "l40", "l4", "fp16", "bf16",
         "fp32", "fp8", "int8", "sm80", "sm90"});
    return std::ranges::find(kinds, token) != kinds.end();
  }

  [[nodiscard]] bool stands_in_cited(std::string_view token) const {
    return std::ranges::any_of(cited_, [&](const auto& line) { return stands_in(line, token); });
  }
  [[nodiscard]] bool of_allocation(std::string_view token) const {
    return std::ranges::find(nodes_, token) != nodes_.end();
  }
  [[nodiscard]] bool plain_question(std::string_view token) const {
    return is_plain_word(token) && !acting_.contains(token) && stands_in(question_, token);
  }
  /// "step-time" of two plain words
  [[nodiscard]] bool every_part(std::string_view token) const {
    if (!token.contains('-')) return false;
    return std::ranges::all_of(split(token, '-'), [&](auto part) {
      return !part.empty() && is_plain_word(part) && !acting_.contains(part) &&
             (plain_.contains(part) || stands_in_cited(part) || plain_question(part));
    });
  }

  static constexpr const char* unproven = "it has words that no cited line has";
  const SaidWords& said_;
  std::string question_;
  std::vector<std::string> cited_, nodes_;
  WordList plain_ = list_of(plain_words), acting_ = list_of(acting_words);
  WordList skips_ =
      list_of("is was are were named name called the a an with on of in at which that");
  bool machine_next_ = false;
};

}  // namespace

std::string fault_of_words(const SaidWords& said) { return Check(said).run(); }

}  // namespace schedmate::lines
