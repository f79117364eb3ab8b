// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
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

/// Lines "TOKENS USER", one per request, each appended in one write.
class FileLedger : public TokenLedger {
 public:
  explicit FileLedger(std::string folder) : folder_(std::move(folder)) {}

  Result<std::int64_t> spent(std::string_view day, std::string_view user) override {
    const std::string path = path_of(day);
    if (::access(path.c_str(), F_OK) != 0) return 0;
    const auto text = read_file(path);
    if (!text) return tl::unexpected(text.error());
    std::int64_t sum = 0;
    for (const std::string_view line : split(*text, '\n')) {
      const std::size_t blank = std::min(line.find(' '), line.size());
      const auto tokens = parse_number<std::int64_t>(line.substr(0, blank));
      if (tokens && blank < line.size() && line.substr(blank + 1) == user) sum += *tokens;
    }
    return sum;
  }

  Result<void> add(std::string_view day, std::string_view user, std::int64_t tokens) override {
    const std::string path = path_of(day);
    const auto file = open_own_file(path, O_WRONLY | O_APPEND);
    const std::string line = fmt::format("{} {}\n", tokens, user);
    if (file &&
        ::write(file->number(), line.data(), line.size()) == static_cast<ssize_t>(line.size()))
      return {};
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
};

/// A name that is no user's, for the sum over all of them.
constexpr std::string_view everybody = "*";

struct TokenAllowance {
  std::shared_ptr<TokenLedger> ledger;
  std::int64_t of_day = 0, of_user = 0;

  [[nodiscard]] Result<void> check(const std::string& day, const std::string& user) const {
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
    return {};
  }

  [[nodiscard]] Result<void> pay(const std::string& day, const std::string& user,
                                 std::int64_t tokens) const {
    const auto done = ledger->add(day, everybody, tokens);
    return done ? ledger->add(day, user, tokens) : done;
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
    if (const auto open = allowance.check(day, user); !open) return tl::unexpected(open.error());
    auto reply = chat(request);
    if (!reply) return reply;
    if (const auto paid = allowance.pay(day, user, cost_of(request, *reply)); !paid) {
      return tl::unexpected(paid.error());
    }
    return reply;
  };
}

}  // namespace schedmate
