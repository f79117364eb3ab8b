// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch.hpp"

namespace schedmate::settings {

TEST_CASE("settings are loaded again while the program runs; what was given stays above the file") {
  const testing::Scratch here;
  const auto write = [&](const std::string& text) {
    std::ofstream(here.path("config.toml")) << text;
  };
  const SettingsSources sources{here.path("config.toml"), {{"seed", "3", "--seed"}}};
  write("seed = 1\nthreads = 2\n");
  const auto first = load_settings(sources, {});
  REQUIRE(first);
  CHECK(first->whole("threads") == 2);
  CHECK(first->whole("seed") == 3);
  CHECK(first->origin("seed") == "--seed");
  write("threads = 4\n");
  const auto second = load_settings(sources, {});
  REQUIRE(second);
  CHECK(second->whole("threads") == 4);
  CHECK(first->whole("threads") == 2);  // whoever holds the old ones goes on with them
  write("thread = 4\n");
  const auto third = load_settings(sources, {});
  REQUIRE_FALSE(third);
  CHECK(third.error().code == ErrorCode::invalid);
  CHECK(third.error().message.contains("config.toml:1:10: unknown setting 'thread'"));
}

TEST_CASE("an unknown setting is answered with the few that are spelled alike") {
  const auto said = [](std::string_view key) {
    return Settings{}.set(key, "1", "--set").error().message;
  };
  CHECK(said("mode.ordr") ==
        "unknown setting 'mode.ordr' (nearest: mode.order; schedmate config lists all)");
  CHECK(said("weather.tomorrow") ==
        "unknown setting 'weather.tomorrow' (schedmate config lists all)");
  CHECK(said("listen").contains("nearest: listen.unix, listen.tcp"));
}

TEST_CASE("the usual settings file need not be there; one that is named must") {
  const testing::Scratch here;
  Environment environment;
  environment.config_home = here.path();
  CHECK(load_settings({}, environment));
  CHECK_FALSE(load_settings({here.path("absent.toml"), {}}, environment));
}

TEST_CASE("the site's settings are below the user's; a file that is named stands alone") {
  const testing::Scratch here;
  const auto write = [&](const std::string& folder, const std::string& text) {
    std::filesystem::create_directories(here.path(folder + "/schedmate"));
    std::ofstream(here.path(folder + "/schedmate/config.toml")) << text;
  };
  write("weak", "seed = 1\nthreads = 2\noverhead_small_s = 5\n");
  write("strong", "seed = 2\nthreads = 3\n");
  write("own", "seed = 3\n");
  Environment environment;
  environment.config_home = here.path("own");
  environment.variable = [&](std::string_view name) {
    return name == "XDG_CONFIG_DIRS" ? here.path("strong") + ":relative::" + here.path("weak")
                                     : std::string();
  };
  const auto settings = load_settings({}, environment);
  REQUIRE(settings);
  CHECK(settings->whole("seed") == 3);
  CHECK(settings->whole("threads") == 3);
  CHECK(settings->origin("threads") == here.path("strong/schedmate/config.toml"));
  CHECK(settings->origin("overhead_small_s") == here.path("weak/schedmate/config.toml"));
  const auto named = load_settings({here.path("own/schedmate/config.toml"), {}}, environment);
  REQUIRE(named);
  CHECK(named->origin("threads") == Settings{}.origin("threads"));
  write("weak", "thread = 4\n");
  CHECK_FALSE(load_settings({}, environment));
}

}  // namespace schedmate::settings
