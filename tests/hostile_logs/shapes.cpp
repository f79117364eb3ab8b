// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/random.hpp"
#include "tests/hostile_logs/cases.hpp"

namespace schedmate::hostile_logs {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string made;
  made.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) made += text;
  return made;
}

std::string random_bytes(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::string made;
  for (std::size_t i = 0; i < count; ++i) made += static_cast<char>(random.below(256));
  return made;
}

std::string wide(std::string_view text, bool big_end, bool mark) {
  std::string made = !mark ? "" : big_end ? "\xfe\xff" : "\xff\xfe";
  for (const char c : text) made += big_end ? std::string{'\0', c} : std::string{c, '\0'};
  return made;
}

LogCases odd_progress() {
  LogCases cases;
  cases.push_back({"numbers of a thousand digits",
                   repeated("step " + std::string(1000, '9') + " loss " + std::string(1000, '1') +
                                "." + std::string(1000, '7') + "\n",
                            200)});
  cases.push_back({"exponents beyond all", repeated("step 1e400 loss 1e-400 time 1e999s\n", 200)});
  cases.push_back(
      {"nan and inf everywhere", repeated("step nan loss inf time -inf s/it nan\n", 200)});
  cases.push_back({"steps that fall", [] {
                     std::string log;
                     for (int i = 5000; i > 0; --i)
                       log += fmt::format("step {} loss 1 1.0s/it\n", i);
                     return log;
                   }()});
  cases.push_back({"steps that stand still", repeated("step 7/10 loss 0.5 time 0.0s\n", 5000)});
  cases.push_back({"steps beyond the total", [] {
                     std::string log;
                     for (int i = 0; i < 500; ++i)
                       log += fmt::format("step {}/10 loss 0.5\n", i * 1000);
                     return log;
                   }()});
  cases.push_back({"negative times", repeated("step 3 time -4.2s eta -1:00:00\n", 500)});
  cases.push_back({"times of zero", [] {
                     std::string log;
                     for (int i = 0; i < 500; ++i) log += fmt::format("step {} time 0.000s\n", i);
                     return log;
                   }()});
  cases.push_back({"clock that runs back", [] {
                     std::string log;
                     for (int i = 0; i < 500; ++i)
                       log += fmt::format("2026-01-01 00:{:02}:{:02} step {} loss 1\n",
                                          59 - i / 60 % 60, 59 - i % 60, i);
                     return log;
                   }()});
  cases.push_back({"dates that are none", repeated("9999-99-99 99:99:99 step 1 loss 2\n", 500)});
  cases.push_back(
      {"bars over themselves", repeated("\r 10%|#| 1/10 [00:01<00:09, 1.0s/it]", 50'000)});
  return cases;
}

}  // namespace

LogCases terminal_cases() {
  LogCases cases;
  for (const std::string sequence : {"\x1b[2J\x1b[H",
                                     "\x1b]0;owned\x07",
                                     "\x1b]52;c;aGVsbG8=\x07",
                                     "\x1bP$q\"p\x1b\\",
                                     "\x1b[8m",
                                     "\x1b[?1049h",
                                     "\x1b]8;;http://victim-77\x1b\\click\x1b]8;;\x1b\\",
                                     "\x1b[6n",
                                     "\x1b[31",
                                     "\x1b",
                                     "\x1b]never ended",
                                     ("\x9b"
                                      "2J"),
                                     ("\xc2\x9b"
                                      "2J"),
                                     "\x07\x07\x07",
                                     "\x08\x08\x08\x08",
                                     "\x0e\x0f\x0b\x0c",
                                     "\x7f",
                                     ("\xe2\x80\xae"
                                      "gpj.exe"),
                                     "\xe2\x80\xa8",
                                     "\r\r\r",
                                     "\xf0\x9f\x92\xa3",
                                     "\x1b[31mRuntimeError: red\x1b[0m"}) {
    std::string shown;
    for (const char c : sequence) shown += fmt::format("{:02x}", static_cast<unsigned char>(c));
    cases.push_back(
        {fmt::format("terminal {}", shown),
         training_then(fmt::format(
             "RuntimeError: {0} failed\n{0}\nstep 31 loss 0.1 time 0.31s {0}\n", sequence))});
  }
  return cases;
}

LogCases flood_cases() {
  LogCases cases = odd_progress();
  std::string templates;
  std::string failures;
  std::string numbers;
  std::string traces;
  std::string chained;
  for (int i = 0; i < 20'000; ++i) {
    std::string word;
    for (int n = i; n > 0; n /= 26) word += static_cast<char>('a' + n % 26);
    templates += fmt::format("{} event of {} kind\n", word, word);
    failures += fmt::format("{}Error: {} went wrong\n", word, word);
    numbers += fmt::format("{} {} {} {} {}\n", i, i * 7, i % 13, -i, 1e300 * i);
    traces += "Traceback (most recent call last):\n";
    chained += fmt::format(
        "ValueError: {}\n\nDuring handling of the above exception, another "
        "exception occurred:\n\n",
        i);
  }
  cases.push_back({"flood of templates", templates});
  cases.push_back({"flood of failures", failures});
  cases.push_back({"flood of numbers", numbers});
  cases.push_back({"flood of tracebacks without end", traces});
  cases.push_back({"flood of chained exceptions", chained});
  cases.push_back({"flood of frames", "Traceback (most recent call last):\n" +
                                          repeated("  File \"x.py\", line 1, in f\n", 50'000)});
  cases.push_back({"flood of ranks", [] {
                     std::string log;
                     for (int i = 0; i < 20'000; ++i)
                       log += fmt::format("[rank{}]: RuntimeError: NCCL error\n", i);
                     return log;
                   }()});
  cases.push_back({"brackets without end", std::string(300'000, '[')});
  cases.push_back({"quotes without end", repeated("'\"`", 100'000)});
  cases.push_back({"separators", repeated("|:=,;/ ", 50'000)});
  cases.push_back({"empty lines", std::string(500'000, '\n')});
  cases.push_back({"one letter", "x"});
  cases.push_back({"nothing", ""});
  return cases;
}

LogCases encoding_cases() {
  LogCases cases;
  const std::string failure = training_then("RuntimeError: CUDA error: device-side assert\n");
  for (const std::string bytes :
       {"\xc3", "\xe2\x82", "\xf0\x9f\x92", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xff\xff", "caf\xe9", "\xb0\xa1\xb0\xa2", "\x82\xa0\x82\xa2"})
    cases.push_back({fmt::format("bytes {:02x}..., {} of them",
                                 static_cast<unsigned char>(bytes.front()), bytes.size()),
                     training_then(fmt::format("ValueError: {0}\n{0}", bytes))});
  for (const bool big_end : {false, true})
    for (const bool mark : {false, true})
      cases.push_back({fmt::format("UTF-16 {} {}", big_end ? "BE" : "LE", mark ? "marked" : "bare"),
                       wide(failure, big_end, mark)});
  cases.push_back({"UTF-16 cut in half", wide(failure, false, true) + "R"});
  cases.push_back(
      {"NUL between lines", training_then(std::string(1000, '\0') + "\nValueError: x\n")});
  cases.push_back({"only NUL", std::string(100'000, '\0')});
  cases.push_back({"byte order marks", repeated("\xef\xbb\xbf", 1000) + failure});
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    cases.push_back({fmt::format("random bytes {}", seed), random_bytes(200'000, seed)});
  const std::string gzip_head("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10);
  cases.push_back({"gzip, head only", gzip_head, "job.log.gz"});
  cases.push_back({"gzip, damaged", gzip_head + random_bytes(5000, 9), "job.log.gz"});
  cases.push_back({"gzip by name only", failure, "job.log.gz"});
  cases.push_back({"zstd, damaged", "\x28\xb5\x2f\xfd" + random_bytes(5000, 11), "job.log.zst"});
  return cases;
}

LogCases bomb_cases() {
  LogCases cases;
  cases.push_back({"one line of 30 MB", repeated("x", 30'000'000)});
  cases.push_back({"one line of 30 MB of numbers", repeated("12345 ", 5'000'000)});
  cases.push_back({"one line of 20 MB of errors", repeated("RuntimeError: x ", 1'250'000)});
  cases.push_back(
      {"a failure behind a line of 30 MB", repeated("x", 30'000'000) + "\nRuntimeError: behind\n"});
  cases.push_back({"escapes without end, 10 MB", repeated("\x1b[", 5'000'000)});
  cases.push_back({"a million short lines", repeated("a\n", 1'000'000)});
  return cases;
}

}  // namespace schedmate::hostile_logs
