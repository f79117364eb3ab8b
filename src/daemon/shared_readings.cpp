// SPDX-License-Identifier: Apache-2.0
#include "daemon/shared_readings.hpp"

#include <nlohmann/json.hpp>

#include "reader/request.hpp"

namespace schedmate::daemon {
namespace {

int urgency_of(const reader::Request& request) {
  return request.what == reader::What::failure ? 0 : request.what == reader::What::facts ? 1 : 2;
}

}  // namespace

void SharedReadings::enqueue(const std::string& key, const Question& question) {
  due_.emplace(std::pair(urgency_of(question.request), ++came_), key);
}

void SharedReadings::ask(const Ask& ask, const reader::Request& request, Take take) {
  {
    const std::lock_guard lock(mutex_);
    const std::string key = reader::request_line({0, request});
    Question& question = questions_.try_emplace(key, Question{ask, request}).first->second;
    if (question.waiting.empty() && !question.is_out) enqueue(key, question);
    question.waiting.push_back(std::move(take));
  }
  go_on();
}

/// Without the lock, as the answer may come at once.
void SharedReadings::go_on() {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (due_.empty() || out_ >= most_out_) return;
    const std::string key = std::move(due_.extract(due_.begin()).mapped());
    Question& question = questions_.at(key);
    question.is_out = true;
    ++out_;
    auto takes = std::exchange(question.waiting, {});
    const Ask ask = question.ask;
    reader::Request request = question.request;
    lock.unlock();
    ask(std::move(request), [this, key, takes = std::move(takes)](Result<Document> read) {
      returned(key, takes, std::make_shared<const Result<Document>>(std::move(read)));
    });
  }
}

void SharedReadings::returned(const std::string& key, const std::vector<Take>& takes,
                              const Read& read) {
  {
    const std::lock_guard lock(mutex_);
    --out_;
    const auto question = questions_.find(key);
    question->second.is_out = false;
    if (question->second.waiting.empty())
      questions_.erase(question);
    else
      enqueue(key, question->second);
  }
  for (const Take& take : takes) take(read);
  go_on();
}

}  // namespace schedmate::daemon
