// SPDX-License-Identifier: Apache-2.0
#include "http/user_names.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>

#include "tests/support/patience.hpp"

namespace schedmate::http {
namespace {

using std::chrono::minutes;
using std::chrono::steady_clock;

/// A name service that answers until it is told to hang, and a clock that is turned by hand.
struct Service {
  std::atomic<std::chrono::nanoseconds> time{};
  std::atomic<bool> hangs{false};
  std::atomic<int> asked{0};
  std::promise<void> end;
  std::shared_future<void> ended = end.get_future().share();
};

UserNames names_of(const std::shared_ptr<Service>& service, const std::string& name) {
  Clock clock;
  clock.now = [service] { return service->time.load(); };
  const auto ask = [service, name](uid_t) {
    ++service->asked;
    if (service->hangs) service->ended.wait();
    return name;
  };
  return UserNames({ask, [] {}, clock});
}

std::string found(UserNames& names, uid_t uid) {
  std::optional<std::string> name;
  return testing::soon([&] { return (name = names.find(uid)).has_value(); }) ? *name : "none";
}

}  // namespace

TEST_CASE("a name is asked once, again after ten minutes, and never served after an hour") {
  const auto service = std::make_shared<Service>();
  auto names = names_of(service, "ann");
  CHECK(found(names, 1000) == "ann");
  CHECK(names.find(1000) == "ann");
  CHECK(service->asked == 1);
  service->hangs = true;
  service->time = minutes(11);
  CHECK(names.find(1000) == "ann");
  service->time = minutes(60);
  CHECK(names.find(1000) == "ann");
  service->time = minutes(61);
  CHECK(names.find(1000) == std::nullopt);
  service->end.set_value();
  CHECK(found(names, 1000) == "ann");
  CHECK(service->asked == 2);
}

TEST_CASE("who has no name, or one that cannot be printed, goes by the uid") {
  auto nameless = names_of(std::make_shared<Service>(), "");
  CHECK(found(nameless, 1000) == "uid:1000");
  auto forged = names_of(std::make_shared<Service>(), "root\n");
  CHECK(found(forged, 1000) == "uid:1000");
}

TEST_CASE("a name service that hangs does not hold up the end") {
  const auto service = std::make_shared<Service>();
  service->hangs = true;
  {
    auto names = names_of(service, "ann");
    CHECK(names.find(1000) == std::nullopt);
    while (service->asked == 0) std::this_thread::yield();
  }  // here, although nobody has answered
  service->end.set_value();
}

}  // namespace schedmate::http
