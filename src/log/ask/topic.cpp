// SPDX-License-Identifier: Apache-2.0
#include "log/ask/topic.hpp"

#include <algorithm>

#include "base/characters.hpp"

namespace schedmate::ask {
namespace {

using Phrases = std::initializer_list<std::string_view>;

/// Lower-case words, each between single blanks.
std::string spaced(std::string_view text) {
  std::string made = " ";
  for (const char c : text) {
    const bool letter = is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (letter)
      made += lower(c);
    else if (!made.ends_with(' '))
      made += ' ';
  }
  return made.ends_with(' ') ? made : made + ' ';
}

/// Whole words; "crash*" also has its longer forms.
bool has(std::string_view text, std::string_view phrase) {
  const bool prefix = phrase.ends_with('*');
  if (prefix) phrase.remove_suffix(1);
  for (auto at = text.find(phrase); at != std::string_view::npos; at = text.find(phrase, at + 1))
    if (text[at - 1] == ' ' && (prefix || text[at + phrase.size()] == ' ')) return true;
  return false;
}

bool has_phrase(std::string_view text, Phrases phrases) {
  return std::ranges::any_of(phrases, [&](auto phrase) { return has(text, phrase); });
}

/// "of job 5" where this log is of another one, or of none that is known.
bool names_other_job(std::string_view text, std::string_view own) {
  constexpr std::string_view word = " job ";
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto rest = text.substr(at + word.size());
    const auto name = rest.substr(0, rest.find(' '));
    if (!name.empty() && is_digit(name[0]) && name != own) return true;
  }
  return has_phrase(text, {"jobs", "other job", "another job", "queue", "cluster", "my quota"});
}

bool is_about_restart(std::string_view text) {
  const bool past = has_phrase(text, {"did", "was", "were", "has", "had", "how often", "how many"});
  return !past && has_phrase(text, {"restart*", "resubmit*", "rerun*", "re run", "requeue*",
                                    "retry", "run it again", "try it again", "try again",
                                    "start it again", "start again", "submit it again",
                                    "should i do", "what to do", "what now", "fix", "fix it"});
}

}  // namespace

Topic topic_of(std::string_view question, std::string_view job) {
  const auto text = spaced(question);
  if (names_other_job(text, job)) return Topic::other_job;
  if (is_about_restart(text)) return Topic::restart;
  if (has_phrase(text, {"node", "nodes", "host", "hosts", "hostname*", "machine", "machines"}))
    return Topic::node;
  if (has_phrase(text, {"hang*", "hung", "stuck", "frozen", "freez*", "stall*", "deadlock*",
                        "alive", "dead", "still running", "still going", "making progress"}))
    return Topic::hang;
  const bool why = has(text, "why");
  if (!why && has_phrase(text, {"checkpoint*", "ckpt*", "save", "saved", "saving", "saves",
                                "snapshot*", "weights", "stored", "dump*", "export*"}))
    return Topic::checkpoint;
  if (has_phrase(text, {"fail*",  "error*",   "crash*",   "die",           "died",  "dies",
                        "dying",  "abort*",   "stop*",    "wrong",         "kill*", "exception*",
                        "cause*", "reason*",  "ran out",  "out of memory", "oom",   "problem*",
                        "bug*",   "diagnos*", "happened", "ended",         "end"}))
    return Topic::failure;
  if (has_phrase(text,
                 {"when", "how long", "how much longer", "eta", "time left", "remain*", "until"}))
    return Topic::when;
  if (has_phrase(text, {"done", "finish*", "complet*", "ready", "success*", "succeed*"}))
    return Topic::done;
  if (has_phrase(text, {"batch size", "learning rate", "lr", "argument*", "setting*", "config*",
                        "hyperparam*", "optimizer", "optimiser", "which model", "what model",
                        "seed", "parameter*"}))
    return Topic::settings;
  if (has_phrase(text, {"fast", "faster", "speed*", "slow*", "throughput", "step time",
                        "per second", "time per", "it s"}))
    return Topic::speed;
  if (has_phrase(text, {"loss*", "converg*"})) return Topic::loss;
  if (has_phrase(text, {"memory", "vram"})) return Topic::memory;
  if (has_phrase(text,
                 {"how far", "progress", "epoch*", "left", "step*", "iteration*", "percent*"}))
    return Topic::progress;
  return why ? Topic::failure : Topic::words;
}

}  // namespace schedmate::ask
