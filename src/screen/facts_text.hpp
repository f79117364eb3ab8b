// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <schedmate/facts.hpp>
#include <string>

namespace schedmate::screen {

/// What a job is, in a few words: "ResNet-50 on CIFAR-10, 90 epochs, batch 128, pytorch ddp". "" if
/// nothing is known. `value` gives the text of a fact, "" for one that is not known.
[[nodiscard]] std::string job_in_words(const std::function<std::string(std::string_view)>& value);

/// The same as one line, with what the job asks for, and how sure the least sure of those words is.
[[nodiscard]] std::string facts_line(const Facts& facts);

/// Facts for people, in a terminal of so many columns; 0: none.
[[nodiscard]] std::string facts_text(const Facts& facts, bool explain, std::size_t columns);

/// What of it is in doubt: whether it will train, what a model said, what could not be read; "" if
/// nothing is.
[[nodiscard]] std::string facts_doubts(const Facts& facts);

}  // namespace schedmate::screen
