// SPDX-License-Identifier: Apache-2.0
#include "policy/capped.hpp"

#include <algorithm>
#include <utility>

namespace schedmate::policy {
namespace {

class Capped {
 public:
  Capped(Estimator estimator, Estimator cap)
      : estimator_(std::move(estimator)), cap_(std::move(cap)) {}

  void learn(const FinishedJob& ended) {
    estimator_.learn(ended);
    cap_.learn(ended);
  }

  Prediction operator()(const EnteringJob& at) {
    Prediction prediction = estimator_(at);
    const FractionalSeconds most = cap_(at).run_time;
    prediction.expected = std::min(prediction.expected, most);
    if (prediction.run_time <= most) return prediction;
    if (prediction.distribution && most.count() > 0)
      prediction.distribution = prediction.distribution->moved(prediction.run_time, most);
    prediction.run_time = most;
    return prediction;
  }

 private:
  Estimator estimator_, cap_;
};

}  // namespace

Estimator capped(Estimator estimator, Estimator cap) {
  return Capped(std::move(estimator), std::move(cap));
}

}  // namespace schedmate::policy
