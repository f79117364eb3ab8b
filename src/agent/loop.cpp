// SPDX-License-Identifier: Apache-2.0
#include "agent/loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/prompt.hpp"
#include "agent/tools.hpp"
#include "base/fence.hpp"
#include "base/random.hpp"
#include "llm/ask.hpp"

namespace schedmate::agent {
namespace {

/// Code has three to four bytes a token; three is on the safe side.
constexpr std::int64_t bytes_per_token = 3;
constexpr int most_repairs = 2;
constexpr int most_shrinks = 3;
constexpr std::string_view dropped_observation = "(left out to save room; look again if needed)";

class Conversation {
 public:
  explicit Conversation(const SampleSpec& spec)
      : spec_(spec), room_(spec.settings.context_tokens - spec.settings.answer_tokens) {
    fixed_ = static_cast<std::int64_t>(task_prompt().size() + guide_prompt().size() +
                                       turn_schema(spec.gaps, Wanted::turn).size());
    start();
  }

  void add(bool from_model, std::string text) {
    messages_.push_back({.from_model = from_model, .text = std::move(text)});
  }

  /// What one observation may take.
  [[nodiscard]] std::size_t observation_bytes() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(free_bytes() / 3, 600));
  }

  /// The oldest observations go first; the job's description and the last turn stay.
  std::vector<ChatMessage> fitting() {
    for (std::size_t i = 2; i + 2 < messages_.size() && size() > free_bytes(); i += 2) {
      if (!messages_[i].from_model) messages_[i].text = dropped_observation;
    }
    return messages_;
  }

  /// The server counts more tokens than we thought: begin again with less.
  void shrink() {
    room_ = room_ * 7 / 10;
    messages_.clear();
    start();
  }

  [[nodiscard]] std::int64_t prompt_tokens() const { return (fixed_ + size()) / bytes_per_token; }

 private:
  void start() {
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(free_bytes() / 2, 1500));
    add(false, job_prompt(spec_.task, spec_.gaps, most, mix(spec_.settings.seed)));
  }
  [[nodiscard]] std::int64_t free_bytes() const { return room_ * bytes_per_token - fixed_; }
  [[nodiscard]] std::int64_t size() const {
    std::size_t sum = 0;
    for (const ChatMessage& message : messages_) sum += message.text.size();
    return static_cast<std::int64_t>(sum);
  }

  const SampleSpec& spec_;
  std::int64_t room_;
  std::int64_t fixed_ = 0;
  std::vector<ChatMessage> messages_;
};

class Loop {
 public:
  Loop(const SampleSpec& spec, const Chat& chat)
      : spec_(spec), chat_(chat), talk_(spec), tools_(spec.task.tree) {}

  Sample run() {
    while (!done_) turn();
    return std::move(sample_);
  }

 private:
  void stop(ErrorCode code, std::string why) {
    sample_.error = {code, std::move(why)};
    done_ = true;
  }

  /// What the next request may cost at most.
  [[nodiscard]] std::int64_t next_cost() const {
    return talk_.prompt_tokens() + spec_.settings.answer_tokens;
  }

  [[nodiscard]] bool must_answer() const {
    return looping_ || cut_off_ || sample_.tool_calls >= spec_.settings.tool_calls ||
           sample_.tokens + 2 * next_cost() > spec_.settings.tokens;
  }

  void turn() {
    auto messages = talk_.fitting();
    if (sample_.requests > 0 && sample_.tokens + next_cost() > spec_.settings.tokens) {
      return stop(ErrorCode::refused, "the tokens of one job are used up (tokens)");
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(spec_.end - spec_.clock.now());
    if (left <= std::chrono::milliseconds(0)) {
      return stop(ErrorCode::timeout, "no time left for an answer (deadline)");
    }
    const bool last = must_answer();
    const Wanted wanted = cut_off_ ? Wanted::bare_answer : last ? Wanted::answer : Wanted::turn;
    const Question<Turn> question = question_of(wanted, std::move(messages), left);
    ++sample_.requests;
    const llm::Asked<Turn> asked = llm::put_to(chat_, question);
    if (!asked.reply) return on_error(asked.answer.error());
    const ChatReply& reply = *asked.reply;
    const std::int64_t counted = reply.prompt_tokens + reply.completion_tokens;
    sample_.tokens += counted > 0 ? counted : next_cost();
    if (reply.finish_reason == "length") {
      cut_off_ = true;
      return repair(reply.text, "the reply was cut off: be shorter");
    }
    take(asked);
  }

  [[nodiscard]] Question<Turn> question_of(Wanted wanted, std::vector<ChatMessage> messages,
                                           std::chrono::milliseconds patience) const {
    const bool last = wanted != Wanted::turn;
    ChatRequest request{.system = task_prompt(),
                        .tools = guide_prompt(),
                        .messages = std::move(messages),
                        .json_schema = turn_schema(spec_.gaps, wanted),
                        .max_tokens = static_cast<int>(spec_.settings.answer_tokens),
                        .temperature = spec_.seed == 0 ? 0 : 0.7,
                        .seed = spec_.seed,
                        .patience = patience};
    if (last) request.messages.back().text += "\n\nGive your answer now.";
    return {std::move(request), read_turn, [last](const Turn& turn) -> std::string {
              return last && !turn.answer ? "no tool can be used any more, give the answer" : "";
            }};
  }

  void on_error(const Error& error) {
    if (error.code == ErrorCode::conflict && ++shrinks_ <= most_shrinks) return talk_.shrink();
    stop(error.code, error.message);
  }

  void repair(const std::string& text, const std::string& why) {
    if (++repairs_ > most_repairs) return stop(ErrorCode::bad_reply, why);
    talk_.add(true, text.substr(0, 400));
    talk_.add(false, fmt::format("That could not be used: {}. Give the JSON object again.", why));
  }

  void take(const llm::Asked<Turn>& asked) {
    const std::string& text = asked.reply->text;
    if (!asked.answer) return repair(text, asked.answer.error().message);
    if (!asked.answer->answer) return act(text, *asked.answer->action);
    sample_.answer = asked.answer->answer;
    sample_.unreadable = asked.answer->unreadable;
    done_ = true;
  }

  void act(const std::string& text, const ToolCall& call) {
    ++sample_.tool_calls;
    looping_ = std::ranges::find(made_, call) != made_.end();
    made_.push_back(call);
    talk_.add(true, text.substr(0, 2000));
    const std::string found =
        looping_ ? "You did this already." : tools_.use(call, talk_.observation_bytes());
    const std::uint64_t seed = mix(spec_.settings.seed + made_.size());
    talk_.add(false, "Observation:\n" + fenced(call.path, found, seed));
  }

  const SampleSpec& spec_;
  const Chat& chat_;
  Conversation talk_;
  Toolbox tools_;
  Sample sample_;
  std::vector<ToolCall> made_;
  int repairs_ = 0;
  int shrinks_ = 0;
  bool looping_ = false;
  bool cut_off_ = false;  ///< a reply was: only the values are asked for from here on
  bool done_ = false;
};

}  // namespace

Sample run_sample(const SampleSpec& spec, const Chat& chat) { return Loop(spec, chat).run(); }

}  // namespace schedmate::agent
