// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace schedmate {
namespace {

constexpr int could_not_start = 127;

void redirect(const std::string& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::dup2(file, descriptor);
}

int wait_for(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "schedmate-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Scratch::path(std::string_view name) const { return (folder_ / name).string(); }

std::string Scratch::write(std::string_view name, std::string_view text) const {
  std::filesystem::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name) << text;
  return path(name);
}

std::string Scratch::read(std::string_view name) const { return contents(path(name)); }

std::vector<std::string> Scratch::files(std::string_view folder) const {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / folder, absent))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

pid_t Scratch::start(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words{SCHEDMATE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return start_words(std::move(words));
}

Ran Scratch::shell(const std::string& line) const {
  const std::string begin = "schedmate() { \"" SCHEDMATE_PROGRAM "\" \"$@\"; }\n";
  const int status = wait_for(start_words({"/bin/sh", "-c", begin + line}));
  return {status, read(".out"), read(".err")};
}

pid_t Scratch::start_words(std::vector<std::string> words) const {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::vector<std::string> texts = variables;
  texts.push_back("HOME=" + folder_.string());
  const auto is_path = [](const std::string& text) { return text.starts_with("PATH="); };
  if (std::ranges::none_of(texts, is_path)) texts.emplace_back("PATH=/usr/bin:/bin");
  std::vector<char*> environment;
  for (std::string& text : texts) environment.push_back(text.data());
  environment.push_back(nullptr);
  const pid_t process = ::fork();
  if (process != 0) return process;
  redirect(path(".out"), STDOUT_FILENO);
  redirect(path(".err"), STDERR_FILENO);
  if (::chdir(folder_.c_str()) == 0)
    ::execve(words[0].c_str(), pointers.data(), environment.data());
  ::_exit(could_not_start);
}

int Scratch::end(pid_t process, int signal_number) {
  ::kill(process, signal_number);
  return wait_for(process);
}

Ran Scratch::run(const std::vector<std::string>& arguments) const {
  const int status = wait_for(start(arguments));
  return {status, read(".out"), read(".err")};
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> with_model(const std::string& url, const std::vector<std::string>& more) {
  std::vector<std::string> words{"--llm",          "lab", "--set", "llm.lab.url=" + url, "--set",
                                 "llm.lab.model=m"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string venus() {
  return "helios:" SCHEDMATE_SOURCE_DIR "/data/venus/venus_sept2020_days0-12.csv.gz";
}

}  // namespace schedmate
