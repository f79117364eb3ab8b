// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A host of the C face: a folder with a job and its logs, and a session that touches nothing else.
/// Who includes this includes <nlohmann/json.hpp> before it.

#include <doctest/doctest.h>
#include <schedmate.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace schedmate::face_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using UseCase = int (*)(schedmate_session, const char*, size_t, char**);

inline constexpr std::array<UseCase, 8> use_cases{
    schedmate_facts, schedmate_advise, schedmate_track,  schedmate_diagnose,
    schedmate_ask,   schedmate_eta,    schedmate_finish, schedmate_simulate};

/// A reply is freed once, and with that the test.
struct Answer {
  int code = -1;
  std::string text;
  [[nodiscard]] Json json() const { return Json::parse(text); }
};

inline Answer ask_face(UseCase use_case, schedmate_session session, std::string_view request) {
  char* reply = nullptr;
  Answer answer{use_case(session, request.data(), request.size(), &reply), ""};
  if (reply != nullptr) answer.text = reply;
  CHECK(schedmate_free(reply) == SCHEDMATE_OK);
  return answer;
}

inline Answer ask_face(UseCase use_case, schedmate_session session, const Json& request) {
  return ask_face(use_case, session, std::string_view(request.dump()));
}

class World {
 public:
  World() : folder_(fs::temp_directory_path() / ("face_test." + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "job");
    std::ofstream(folder_ / "job/train.py") << "import argparse\n"
                                               "p = argparse.ArgumentParser()\n"
                                               "p.add_argument('--epochs', type=int, default=3)\n"
                                               "p.add_argument('--lr', default=0.1)\n"
                                               "a = p.parse_args()\n";
    std::ofstream log(folder_ / "job.log");
    for (int step = 1; step <= 40; ++step)
      log << "step " << step << "/100 loss " << 2.0 / step << " step_time 0.5s\n";
    log << "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n";
    std::ofstream(folder_ / "config.toml") << "";
    session_ = open_another();
    REQUIRE(session_ != 0);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    schedmate_close(session_);
    fs::remove_all(folder_);
  }

  [[nodiscard]] schedmate_session session() const { return session_; }
  /// With the same settings; 0 = an error.
  [[nodiscard]] schedmate_session open_another() const {
    const std::string options =
        Json{{"state_dir", path("state")}, {"config", path("config.toml")}}.dump();
    schedmate_session session = 0;
    schedmate_open(options.data(), options.size(), &session, nullptr);
    return session;
  }
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  [[nodiscard]] Json facts() const {
    return {{"dir", path("job")}, {"command", "python train.py --epochs 7"}, {"gpus", 2}};
  }
  [[nodiscard]] Json advise() const {
    Json request = facts();
    request["user"] = "ann";
    return request;
  }
  [[nodiscard]] Json logs() const { return {{"logs", {path("job.log")}}}; }
  [[nodiscard]] Json question() const {
    return {{"log", path("job.log")}, {"question", "why did it stop?"}};
  }

 private:
  fs::path folder_;
  schedmate_session session_ = 0;
};

}  // namespace schedmate::face_test
