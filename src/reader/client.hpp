// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The daemon's side of schedmate-reader. One thread holds the connection, makes it anew where it
/// is gone, and gives each question one answer: the document, or a clear error by its deadline,
/// however slow, dead or wrong the other side is. What the other side asks a model meanwhile is
/// put to whoever the options name.

#include <chrono>
#include <functional>
#include <memory>
#include <schedmate/clock.hpp>
#include <schedmate/result.hpp>
#include <string>

#include "base/document.hpp"
#include "reader/question.hpp"
#include "reader/request.hpp"

namespace schedmate::reader {

/// What becomes of a child's question to a language model: `give` is called once with its answer
/// (src/llm/remote.hpp), by any thread. The client's thread asks, and is not to be held up.
using AskModel = std::function<void(Question question, std::function<void(std::string)> give)>;

/// How much longer than the reader itself a client of it waits: setting reader.deadline_s and this.
inline constexpr std::chrono::seconds answer_slack{5};

struct ClientOptions {
  std::string socket{};
  std::size_t most_asked = 128;  ///< without an answer at a time
  std::size_t most_unsent_bytes = std::size_t{32} << 20U;
  std::chrono::milliseconds deadline{25'000};  ///< of an answer
  Clock clock{};
  AskModel model{};  ///< none: the answer is that there is none
};

/// Gets an answer, once.
using Take = std::function<void(Result<Document>)>;
/// How something is asked for that waits for nobody, as Client::ask() below.
using Ask = std::function<void(Request, Take)>;

class Client {
 public:
  explicit Client(ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// Whoever still waits gets `unavailable`.
  ~Client();

  /// Any thread. `take` is called once, by the thread of the client, or at once by this one where
  /// too many wait; it must not block. Errors: unavailable (no reader, a reader that has ended, or
  /// is busy), timeout, bad_reply (nonsense), refused, and those of what was asked.
  void ask(Request request, Take take);
  /// The same for one who waits. Not for the thread that calls `take`.
  [[nodiscard]] Result<Document> ask(Request request);

 private:
  struct Inside;
  std::shared_ptr<Inside> inside_;  // also of answers of models that are still to come
};

}  // namespace schedmate::reader
