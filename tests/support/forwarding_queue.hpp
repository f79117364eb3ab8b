// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A queue in front of another one, for tests that change what one of the calls does.

#include "workers/queue.hpp"

namespace schedmate::testing {

class ForwardingQueue : public workers::Queue {
 public:
  explicit ForwardingQueue(workers::Queue& queue) : queue_(queue) {}

  Result<workers::Put> put(const workers::Operation& operation) override {
    return queue_.put(operation);
  }
  Result<std::optional<workers::Claim>> claim(const std::string& worker) override {
    return queue_.claim(worker);
  }
  Result<std::vector<bool>> keep(const std::string& worker,
                                 std::span<const workers::Claim> claims) override {
    return queue_.keep(worker, claims);
  }
  Result<bool> finish(const std::string& worker, const workers::Claim& claim,
                      const std::string& result) override {
    return queue_.finish(worker, claim, result);
  }
  Result<void> give_up(const std::string& worker, const workers::Claim& claim,
                       const std::string& why) override {
    return queue_.give_up(worker, claim, why);
  }
  Result<workers::Status> look(const std::string& id) override { return queue_.look(id); }
  Result<void> forget(const std::string& id) override { return queue_.forget(id); }
  Result<std::vector<std::string>> dead() override { return queue_.dead(); }
  Result<void> revive(const std::string& id) override { return queue_.revive(id); }
  Result<void> leave(const std::string& worker) override { return queue_.leave(worker); }
  Result<workers::Figures> figures() override { return queue_.figures(); }
  Result<std::vector<std::string>> doubts() override { return queue_.doubts(); }

 private:
  workers::Queue& queue_;
};

}  // namespace schedmate::testing
