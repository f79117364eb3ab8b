// SPDX-License-Identifier: Apache-2.0
#include "daemon/worker_desk.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "settings/clock.hpp"
#include "tests/support/forwarding_queue.hpp"
#include "tests/support/patience.hpp"
#include "workers/worker.hpp"

namespace schedmate::daemon {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using workers::Wish;

workers::QueueOptions options_of_queue(std::int64_t most_waiting) {
  workers::QueueOptions made;
  made.clock = settings::machine_clock();
  made.lease = 300ms;
  made.most_waiting = most_waiting;
  return made;
}

reader::Request facts_of(const std::string& dir) {
  reader::Request made{.what = reader::What::facts, .user = "ann"};
  made.dir = dir;
  made.command = "python t.py";
  return made;
}

/// A queue in this process, a desk in front of it, and workers that can be had.
struct House {
  std::int64_t most_waiting;
  std::unique_ptr<workers::Queue> queue =
      workers::open_queue("memory", options_of_queue(most_waiting)).value();
  std::atomic<bool> is_away = false;
  std::atomic<Wish> wish = Wish::go_on;
  std::vector<std::jthread> threads;
  std::mutex mutex;
  std::vector<std::string> lines;  ///< reported
  std::unique_ptr<WorkerDesk> desk;

  explicit House(std::chrono::milliseconds patience = 20'000ms, bool reads_itself = true,
                 std::int64_t room = 1'000)
      : most_waiting(room) {
    WorkerDeskOptions options;
    options.open = [this]() -> Result<std::unique_ptr<workers::Queue>> {
      if (is_away) return fail(ErrorCode::unavailable, "away");
      return std::make_unique<MayBeAway>(*queue, is_away);
    };
    options.instead = [](const reader::Request& request, const reader::Take& take) {
      take(Document{{"by", "itself"}, {"dir", request.dir}});
    };
    options.name = "d";
    options.patience = patience;
    options.retry = 100ms;
    options.reads_itself = reads_itself;
    options.quiet = 0ms;
    options.clock = settings::machine_clock();
    options.report = [this](const std::string& line) {
      const std::lock_guard lock(mutex);
      lines.push_back(line);
    };
    desk = std::make_unique<WorkerDesk>(std::move(options));
  }
  House(const House&) = delete;
  House& operator=(const House&) = delete;
  ~House() {
    desk = nullptr;
    wish = Wish::drain;
  }

  struct MayBeAway : testing::ForwardingQueue {
    MayBeAway(workers::Queue& queue, const std::atomic<bool>& is_away)
        : ForwardingQueue(queue), is_away_(is_away) {}
    Result<workers::Put> put(const workers::Operation& operation) override {
      if (is_away_) return fail(ErrorCode::timeout, "away");
      return ForwardingQueue::put(operation);
    }
    Result<workers::Status> look(const std::string& id) override {
      if (is_away_) return fail(ErrorCode::timeout, "away");
      return ForwardingQueue::look(id);
    }

   private:
    const std::atomic<bool>& is_away_;
  };

  void employ(workers::Deed deed) {
    threads.emplace_back([this, deed = std::move(deed)] {
      workers::WorkerOptions options;
      options.name = "w";
      options.lease = 300ms;
      options.clock = settings::machine_clock();
      options.wish = [this] { return wish.load(); };
      options.report = [](const std::string&) {};
      (void)workers::run_worker(*queue, deed, options);
    });
    REQUIRE(testing::soon([&] { return queue->figures().value()["workers"] != 0; }));
  }

  std::future<Result<Document>> ask(const reader::Request& request) const {
    const auto answer = std::make_shared<std::promise<Result<Document>>>();
    desk->ask(request, [answer](Result<Document> result) { answer->set_value(std::move(result)); });
    return answer->get_future();
  }
  std::string by(const reader::Request& request) const {
    auto answer = ask(request);
    REQUIRE(answer.wait_for(testing::patience) == std::future_status::ready);
    const auto document = answer.get();
    return document ? document->at("by").get<std::string>() : document.error().message;
  }
};

Result<Document> by_worker(const reader::Request& request) {
  return Document{{"by", "worker"}, {"dir", request.dir}};
}

TEST_CASE("workers read where there are any, and each answer goes to who asked for it") {
  House house;
  CHECK(house.by(facts_of("/a")) == "itself");
  house.employ(by_worker);
  std::this_thread::sleep_for(1'100ms);  // clock: they are counted once a second, no sooner
  std::vector<std::future<Result<Document>>> answers;
  for (std::size_t i = 0; i < 100; ++i)
    answers.push_back(house.ask(facts_of("/" + std::to_string(i))));
  for (std::size_t i = 0; i < 100; ++i) {
    REQUIRE(answers[i].wait_for(testing::patience) == std::future_status::ready);
    CHECK(answers[i].get().value() == Document{{"by", "worker"}, {"dir", "/" + std::to_string(i)}});
  }
  CHECK(house.queue->look("d.50").value().state == workers::State::unknown);  // it was taken
  CHECK(house.desk->counts().by_workers == 100);
  CHECK(house.desk->counts().instead == 1);
}

TEST_CASE("what a worker could not read is read here, or its error is the answer") {
  for (const bool reads_itself : {true, false}) {
    House house(20'000ms, reads_itself);
    house.employ([](const reader::Request&) -> Result<Document> {
      return fail(ErrorCode::not_found, "no such folder");
    });
    CHECK(house.by(facts_of("/none")) == (reads_itself ? "itself" : "no such folder"));
  }
}

TEST_CASE("a full queue is gone around") {
  House house(20'000ms, true, 3);
  std::promise<void> end;
  const auto ended = end.get_future().share();
  house.employ([ended](const reader::Request& request) {
    ended.wait();
    return by_worker(request);
  });
  std::vector<std::future<Result<Document>>> answers;
  for (int i = 0; i < 5; ++i) answers.push_back(house.ask(facts_of("/" + std::to_string(i))));
  const auto is_there = [](const auto& answer) {
    return answer.wait_for(0s) == std::future_status::ready;  // clock: it does not wait
  };
  CHECK(testing::soon([&] { return std::ranges::any_of(answers, is_there); }));
  for (auto& answer : answers)
    if (is_there(answer)) CHECK(answer.get().value()["by"] == "itself");
  CHECK(house.desk->counts().instead >= 1);
  end.set_value();
}

TEST_CASE("a worker that takes too long is not waited for, and its work is forgotten") {
  House house(600ms);
  std::promise<void> end;
  const auto ended = end.get_future().share();
  house.employ([ended](const reader::Request& request) {
    if (request.dir == "/long") ended.wait();
    return by_worker(request);
  });
  CHECK(house.by(facts_of("/long")) == "itself");
  CHECK(house.queue->look("d.1").value().state == workers::State::unknown);
  end.set_value();
}

TEST_CASE("a queue that is lost on the way is gone around, and found again") {
  House house;
  std::promise<void> end;
  const auto ended = end.get_future().share();
  house.employ([ended](const reader::Request& request) {
    if (request.dir == "/long") ended.wait();
    return by_worker(request);
  });
  auto out = house.ask(facts_of("/long"));
  REQUIRE(testing::soon([&] { return house.queue->figures().value()["running"] != 0; }));
  house.is_away = true;
  REQUIRE(out.wait_for(testing::patience) == std::future_status::ready);
  CHECK(out.get().value()["by"] == "itself");
  CHECK(house.by(facts_of("/a")) == "itself");
  end.set_value();
  house.is_away = false;
  CHECK(testing::soon([&] { return house.by(facts_of("/b")) == "worker"; }));
  const std::lock_guard lock(house.mutex);
  CHECK(house.lines ==
        std::vector<std::string>{"no workers are asked, this machine reads itself: away",
                                 "workers are asked again"});
}

TEST_CASE("who still waits when the desk goes is told") {
  House house;
  std::promise<void> end;
  const auto ended = end.get_future().share();
  house.employ([ended](const reader::Request& request) {
    ended.wait();
    return by_worker(request);
  });
  auto out = house.ask(facts_of("/long"));
  REQUIRE(testing::soon([&] { return house.queue->figures().value()["running"] != 0; }));
  house.desk = nullptr;
  REQUIRE(out.wait_for(testing::patience) == std::future_status::ready);
  CHECK(out.get().error().code == ErrorCode::unavailable);
  end.set_value();
}

TEST_CASE("logs that are followed and whatever asks a model stay here") {
  CHECK(is_for_workers(facts_of("/a")));
  CHECK(is_for_workers({.what = reader::What::failure, .user = "ann"}));
  CHECK_FALSE(is_for_workers({.what = reader::What::track, .user = "ann"}));
  CHECK_FALSE(is_for_workers({.what = reader::What::tail, .user = "ann"}));
  reader::Request with_model = facts_of("/a");
  with_model.models = true;
  CHECK_FALSE(is_for_workers(with_model));
  reader::Request with_text{.what = reader::What::diagnose, .user = "ann"};
  with_text.text = "line";
  CHECK_FALSE(is_for_workers(with_text));
}

}  // namespace
}  // namespace schedmate::daemon
