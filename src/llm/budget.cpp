// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/input.hpp"
#include "base/own_files.hpp"
#include "base/text.hpp"
#include "llm/exchange.hpp"

namespace schedmate {
namespace {

class MemoryLedger : public TokenLedger {
 public:
  Result<std::int64_t> spent(std::string_view day, std::string_view user) override {
    const std::lock_guard lock(mutex_);
    const auto found = sums_.find({std::string(day), std::string(user)});
    return found == sums_.end() ? 0 : found->second;
  }
  Result<void> add(std::string_view day, std::string_view user, std::int64_t tokens) override {
    const std::lock_guard lock(mutex_);
    sums_[{std::string(day), std::string(user)}] += tokens;
    return {};
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::int64_t> sums_;
};

/// Of lines "TOKENS USER"; one without its end is torn.
std::int64_t sum_of(std::string_view lines, std::string_view user) {
  std::int64_t sum = 0;
  for (const std::string_view line : split(lines.substr(0, lines.rfind('\n') + 1), '\n')) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    const auto tokens = parse_number<std::int64_t>(line.substr(0, blank));
    if (tokens && blank < line.size() && line.substr(blank + 1) == user) sum += *tokens;
  }
  return sum;
}

/// A file of such lines for each day. What cannot be written is kept here and counts as well.
class FileLedger : public TokenLedger {
 public:
  explicit FileLedger(std::string folder) : folder_(std::move(folder)) {}

  Result<std::int64_t> spent(std::string_view day, std::string_view user) override {
    const std::string path = path_of(day);
    const std::lock_guard lock(mutex_);
    const std::int64_t kept = sum_of(unwritten_[path], user);
    if (::access(path.c_str(), F_OK) != 0) return kept;
    return read_file(path).map([&](const std::string& text) { return kept + sum_of(text, user); });
  }

  Result<void> add(std::string_view day, std::string_view user, std::int64_t tokens) override {
    const std::string path = path_of(day);
    const std::string line = fmt::format("{} {}\n", tokens, user);
    const std::lock_guard lock(mutex_);
    std::string& lines = unwritten_[path].append(line);
    const auto file = open_own_file(path, O_RDWR | O_APPEND);
    if (file) lines.erase(0, llm::append_lines(file->number(), lines));
    if (lines.empty()) return {};
    if (tokens == 0) lines.erase(lines.size() - line.size());
    return fail(ErrorCode::unavailable,
                path + ": cannot record the tokens used; check the state directory");
  }

 private:
  [[nodiscard]] std::string path_of(std::string_view day) const {
    std::string name;
    for (const char c : day) {
      if (c == '-' || (std::isalnum(static_cast<unsigned char>(c)) != 0)) name += c;
    }
    return fmt::format("{}/tokens-{}", folder_, name);
  }
  std::string folder_;
  std::mutex mutex_;
  std::map<std::string, std::string> unwritten_;  ///< lines, by file
};

/// A name that is no user's, for the sum over all of them.
constexpr std::string_view everybody = "*";

struct TokenAllowance {
  std::shared_ptr<TokenLedger> ledger;
  std::int64_t of_day = 0, of_user = 0;

  /// Records that a request begins: what cannot be recorded is not sent.
  [[nodiscard]] Result<void> begin(const std::string& day, const std::string& user) const {
    const auto all = ledger->spent(day, everybody);
    if (!all) return tl::unexpected(all.error());
    if (*all >= of_day) {
      return fail(ErrorCode::refused, fmt::format("the {} tokens of the day are used up; "
                                                  "tokens_per_day sets the limit",
                                                  of_day));
    }
    const auto own = ledger->spent(day, user);
    if (!own) return tl::unexpected(own.error());
    if (*own >= of_user) {
      return fail(ErrorCode::refused, fmt::format("the {} tokens of user {} for the day are used "
                                                  "up; tokens_per_user sets the limit",
                                                  of_user, llm::quotable(user, 40)));
    }
    return ledger->add(day, user, 0);
  }

  /// The answer is there and paid for: where this cannot be recorded, it is the next request that
  /// is not sent.
  void pay(const std::string& day, const std::string& user, std::int64_t tokens) const {
    static_cast<void>(ledger->add(day, everybody, tokens));
    static_cast<void>(ledger->add(day, user, tokens));
  }
};

/// One word without line ends, so that it cannot forge lines of the ledger.
std::string word_of(std::string_view user) {
  std::string word(user.empty() ? "-" : user);
  for (char& c : word) {
    if (static_cast<unsigned char>(c) <= ' ') c = '_';
  }
  return word == everybody ? "_" : word;
}

std::string day_of(const Clock& clock) {
  if (!clock.wall) return "";
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(seconds_of(clock.wall())));
}

/// Where a server does not count, four bytes pass for a token.
std::int64_t cost_of(const ChatRequest& request, const ChatReply& reply) {
  if (reply.prompt_tokens > 0) return reply.prompt_tokens + reply.completion_tokens;
  std::size_t bytes = request.system.size() + request.tools.size() + reply.text.size();
  for (const ChatMessage& message : request.messages) bytes += message.text.size();
  return static_cast<std::int64_t>(bytes / 4);
}

}  // namespace

std::shared_ptr<TokenLedger> memory_ledger() { return std::make_shared<MemoryLedger>(); }

std::shared_ptr<TokenLedger> file_ledger(std::string folder) {
  return std::make_shared<FileLedger>(std::move(folder));
}

Chat llm::with_budget(Chat chat, const ChatSettings& settings, const ChatServices& services) {
  TokenAllowance allowance{.ledger = services.ledger ? services.ledger : memory_ledger(),
                           .of_day = settings.tokens_per_day,
                           .of_user = settings.tokens_per_user};
  return [chat = std::move(chat), allowance = std::move(allowance), clock = services.clock,
          usual = services.user](const ChatRequest& request) -> Result<ChatReply> {
    const std::string day = day_of(clock);
    const std::string user = word_of(request.payer.empty() ? usual : request.payer);
    if (const auto begun = allowance.begin(day, user); !begun) return tl::unexpected(begun.error());
    auto reply = chat(request);
    if (reply) allowance.pay(day, user, cost_of(request, *reply));
    return reply;
  };
}

}  // namespace schedmate
