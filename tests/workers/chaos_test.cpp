// SPDX-License-Identifier: Apache-2.0
/// kill -9 of workers and of Redis at random points, and workers that stand still: whatever was
/// acknowledged has a result in the end, and each operation exactly one: the first that a worker
/// was told is kept. 200 points by hand: workers_chaos_test --no-skip -tc='*200*'
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/random.hpp"
#include "settings/clock.hpp"
#include "tests/support/forwarding_queue.hpp"
#include "tests/support/redis_server.hpp"
#include "workers/request.hpp"
#include "workers/worker.hpp"

namespace schedmate::workers {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto lease = 400ms;

QueueOptions chaos_options() {
  QueueOptions options;
  options.lease = lease;
  options.most_deliveries = 1000;  // kills are no fault of the request
  options.most_waiting = 100'000;
  options.server.busy_timeout = 2000ms;
  return options;
}

/// A worker was told that this result of this operation is the one that is kept.
struct Receipt {
  std::int64_t operation = 0, nonce = 0;
};

/// The queue of a worker, which writes receipts into a pipe.
class WithReceipts final : public testing::ForwardingQueue {
 public:
  WithReceipts(Queue& queue, int pipe) : ForwardingQueue(queue), pipe_(pipe) {}
  Result<bool> finish(const std::string& worker, const Claim& claim,
                      const std::string& result) override {
    auto kept = ForwardingQueue::finish(worker, claim, result);
    if (!kept || !*kept) return kept;
    const Receipt receipt{std::stoll(claim.operation.id), result_of(result)->at("nonce")};
    if (::write(pipe_, &receipt, sizeof receipt) != sizeof receipt) ::_exit(3);
    return kept;
  }

 private:
  int pipe_;
};

[[noreturn]] void be_worker(const std::string& spec, std::int64_t number, int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Clock clock = settings::machine_clock();
  auto queue = open_queue(spec, chaos_options());
  for (; !queue; queue = open_queue(spec, chaos_options())) clock.sleep(10ms);
  WithReceipts with(**queue, pipe);
  std::atomic<std::int64_t> count{0};
  const Deed deed = [&](const reader::Request&) -> Result<Document> {
    const std::int64_t nonce = number * 1'000'000 + ++count;
    clock.sleep(std::chrono::microseconds(mix(static_cast<std::uint64_t>(nonce)) % 3000));
    return Document{{"nonce", nonce}};
  };
  WorkerOptions options;
  options.name = "w" + std::to_string(number);
  options.threads = 2;
  options.lease = lease;
  options.clock = clock;
  options.wish = [] { return Wish::go_on; };
  options.report = [](const std::string&) {};
  static_cast<void>(run_worker(with, deed, options));
  ::_exit(0);
}

class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : random_(seed) {
    if (::pipe(pipe_) != 0) throw std::runtime_error("no pipe");
    ::fcntl(pipe_[0], F_SETFL, O_NONBLOCK);
    for (pid_t& worker : workers_) worker = begin();
  }
  Chaos(const Chaos&) = delete;
  Chaos& operator=(const Chaos&) = delete;
  ~Chaos() {
    for (const pid_t worker : workers_) end(worker);
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

  /// Puts, and kills somebody meanwhile.
  void point() {
    std::jthread putter([this](const std::stop_token& stop) { put_until(stop); });
    std::this_thread::sleep_for(std::chrono::microseconds(random_.below(60'000)));
    const std::int64_t kind = random_.below(4);
    pid_t& worker = workers_.at(static_cast<std::size_t>(random_.below(3)));
    if (kind == 0) {
      server_.stop(SIGKILL);
      server_.start();
      ++server_kills;
    } else if (kind == 1) {  // it is thought dead, and comes back with what it has done
      ::kill(worker, SIGSTOP);
      std::this_thread::sleep_for(lease + 200ms);
      ::kill(worker, SIGCONT);
      ++stops;
    } else {
      end(worker);
      worker = begin();
      ++worker_kills;
    }
    read_receipts();
  }

  /// Waits until all is done, then counts what is wrong.
  void check() {
    auto queue = open_queue(server_.spec(), chaos_options()).value();
    for (int i = 0; i < 6000; ++i) {
      read_receipts();
      Figures figures = queue->figures().value();
      if (figures["running"] + figures["waiting_usual"] == 0) break;
      std::this_thread::sleep_for(10ms);
    }
    read_receipts();
    for (std::int64_t id = 1; id <= acknowledged; ++id) {
      const Status status = queue->look(std::to_string(id)).value();
      if (status.state != State::done) {
        ++lost;
        continue;
      }
      const std::int64_t nonce = result_of(status.result).value().at("nonce");
      const auto& told = receipts_[id];
      if (told.size() > 1 || (told.size() == 1 && *told.begin() != nonce)) ++twice;
    }
    Figures figures = queue->figures().value();
    CHECK(figures["done"] == figures["put"]);
    CHECK(figures["put"] >= acknowledged);
    redelivered = figures["redelivered"];
    late = figures["late"];
  }

  std::int64_t acknowledged = 0, server_kills = 0, worker_kills = 0, stops = 0;
  std::int64_t lost = 0, twice = 0, redelivered = 0, late = 0;

 private:
  /// Each again until it is acknowledged, so that none is left out.
  void put_until(const std::stop_token& stop) {
    auto queue = open_queue(server_.spec(), chaos_options());
    while (!stop.stop_requested()) {
      reader::Request request{.what = reader::What::advise, .user = "nobody"};
      request.dir = "/x";
      request.command = "true";
      const auto operation = operation_of(request, std::to_string(acknowledged + 1), "");
      if (queue && (*queue)->put(*operation))
        ++acknowledged;
      else
        queue = open_queue(server_.spec(), chaos_options());
    }
  }

  pid_t begin() {
    const pid_t child = ::fork();
    if (child == 0) be_worker(server_.spec(), ++number_, pipe_[1]);
    ++number_;
    return child;
  }
  static void end(pid_t worker) {
    ::kill(worker, SIGKILL);
    ::waitpid(worker, nullptr, 0);
  }

  void read_receipts() {
    Receipt receipt;
    while (::read(pipe_[0], &receipt, sizeof receipt) == sizeof receipt)
      receipts_[receipt.operation].insert(receipt.nonce);
  }

  Random random_;
  testing::RedisServer server_;
  int pipe_[2] = {-1, -1};
  std::int64_t number_ = 0;
  std::array<pid_t, 3> workers_{};
  std::map<std::int64_t, std::set<std::int64_t>> receipts_;
};

void run_points(int points, std::uint64_t seed) {
  INFO("seed ", seed);
  Chaos chaos(seed);
  for (int i = 0; i < points; ++i) chaos.point();
  chaos.check();
  CHECK(chaos.acknowledged > points);
  CHECK(chaos.lost == 0);
  CHECK(chaos.twice == 0);
  MESSAGE(points, " points: ", chaos.worker_kills, " workers and ", chaos.server_kills,
          " servers killed, ", chaos.stops, " workers stopped for longer than the lease; ",
          chaos.acknowledged, " operations acknowledged, ", chaos.lost, " lost, ", chaos.twice,
          " with two results; ", chaos.redelivered, " redelivered, ", chaos.late,
          " late results not kept");
}

TEST_CASE("workers and Redis are killed: nothing is lost, nothing is twice") { run_points(12, 7); }

TEST_CASE("the same at 200 points" * doctest::skip()) { run_points(200, 20261127); }

}  // namespace
}  // namespace schedmate::workers
