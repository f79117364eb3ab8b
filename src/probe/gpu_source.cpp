// SPDX-License-Identifier: Apache-2.0
#include "probe/gpu_source.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "log/lines/grown_file.hpp"
#include "log/witness/gpu_load.hpp"
#include "probe/client.hpp"
#include "probe/dcgm.hpp"
#include "probe/nvml_child.hpp"

namespace schedmate::probe {
namespace {

Sample failed_sample(std::int64_t at_s, std::string why) { return {at_s, std::move(why), {}}; }

class GpusFile {
 public:
  explicit GpusFile(const std::string& path) : path_(path), file_(ForeignPath(path), most_text) {}

  Sample read(std::int64_t at_s) {
    const auto take = [&](std::string_view bytes) { text_ += bytes; };
    const auto begin_anew = [&] {
      text_.clear();
      last_.reset();
    };
    if (file_.read(take, begin_anew)) update();
    if (!last_) return failed_sample(at_s, fmt::format("{}: {}", path_, error_));
    return sample_of(*last_, at_s);
  }

 private:
  /// The last line that is whole and good, or all of the file.
  void update() {
    if (text_.size() > most_text) text_.erase(0, text_.size() - most_text);
    const auto end = text_.rfind('\n');
    if (end == std::string::npos) {  // a line that is not whole yet, or one without an end
      (void)take(text_);
      return;
    }
    const auto before = std::string_view(text_).substr(0, end).rfind('\n');
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    if (take(std::string_view(text_).substr(begin, end - begin)))
      text_.erase(0, end + 1);
    else if (!take(text_))
      last_.reset();  // what stood there before is no present state
  }

  bool take(std::string_view text) {
    auto read = witness::read_loaded_gpus(text);
    if (!read) {
      error_ = read.error().message;
      return false;
    }
    last_ = std::move(*read);
    return true;
  }

  static constexpr std::size_t most_text = std::size_t{1} << 20U;
  std::string path_;
  lines::GrownFile file_;
  std::string text_, error_ = "cannot be read, or nothing is in it";
  std::optional<witness::LoadedGpus> last_;
};

}  // namespace

GpuSource nvml_source(const std::string& library, std::chrono::milliseconds deadline) {
  constexpr unsigned links_every = 6;
  return [child = std::make_shared<NvmlChild>(library, deadline), number = 0U,
          last = Sample()](std::int64_t at_s) mutable {
    const bool links = number++ % links_every == 0;
    Sample sample = sample_of(child->read(links), at_s);
    // Counters of links stand as they were until they are read again.
    for (GpuSample& gpu : sample.gpus)
      for (const GpuSample& before : last.gpus)
        if (!links && before.index == gpu.index) {
          gpu.nvlink_recoveries = before.nvlink_recoveries;
          gpu.nvlink_replays = before.nvlink_replays;
          gpu.nvlinks_down = before.nvlinks_down;
        }
    last = sample;
    return sample;
  };
}

GpuSource file_source(const std::string& path) {
  return [file = std::make_shared<GpusFile>(path)](std::int64_t at_s) { return file->read(at_s); };
}

GpuSource dcgm_source(const std::string& url, std::chrono::milliseconds deadline) {
  return [url, client = std::make_shared<Client>(), deadline](std::int64_t at_s) {
    const auto reply = client->get(url, deadline);
    if (!reply) return failed_sample(at_s, reply.error().message);
    constexpr int fine = 200;
    if (reply->status != fine)
      return failed_sample(at_s, fmt::format("{}: it answers {}", url, reply->status));
    auto sample = read_dcgm(reply->body, at_s);
    return sample ? std::move(*sample)
                  : failed_sample(at_s, fmt::format("{}: {}", url, sample.error().message));
  };
}

}  // namespace schedmate::probe
