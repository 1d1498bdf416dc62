#include "apps/trafficgen/control/capture_run.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "apps/trafficgen/datapath/generator.h"
#include "roost/io/pcapng_file.h"

namespace roost::trafficgen {
namespace {

constexpr uint32_t kFrameBytesMax = 2'048;
constexpr uint64_t kStepNanoseconds = 1'000;

// One frame at a time.
class OneFrame final : public FrameRoom {
 public:
  std::span<uint8_t> room(uint16_t, size_t bytes) override {
    length_ = bytes;
    return this->bytes();
  }
  [[nodiscard]] std::span<uint8_t> bytes() { return std::span(bytes_).first(length_); }

 private:
  std::array<uint8_t, kFrameBytesMax> bytes_{};
  size_t length_ = 0;
};

}  // namespace

Result<uint64_t> write_capture(const Config& config, const std::string& path,
                               const volatile std::sig_atomic_t* stop) {
  auto made = Generator::create(config, config.traffic.stream.seed);
  if (!made) return made.error();
  Generator generator = std::move(made).value();
  std::vector<std::string> interfaces;
  for (unsigned port = 0; port < config.port_count(); ++port)
    interfaces.push_back("port" + std::to_string(port));
  auto opened = io::PcapngFile::create({.path = path,
                                        .interfaces = interfaces,
                                        .snap_bytes = kFrameBytesMax,
                                        .application = "roost trafficgen, synthetic"});
  if (!opened) return opened.error();
  io::PcapngFile file = std::move(opened).value();
  OneFrame one;
  uint64_t written = 0;
  for (uint64_t now = 0; !generator.is_over(now); now += kStepNanoseconds) {
    if (stop != nullptr && *stop != 0) break;
    while (const auto frame = generator.make_next(now, one)) {
      file.write({.interface = frame->port,
                  .nanoseconds = now,
                  .direction = io::PcapngFile::Direction::kIn,
                  .bytes = one.bytes(),
                  .total_bytes = static_cast<uint32_t>(one.bytes().size())});
      ++written;
      // It arrives at once, so that the other side can answer.
      const uint16_t other =
          frame->port == config.clients.port ? config.backends.port : config.clients.port;
      net::Packet packet{.data = one.bytes().data(),
                         .contiguous_bytes = static_cast<uint32_t>(one.bytes().size()),
                         .total_bytes = static_cast<uint32_t>(one.bytes().size()),
                         .in_port = other};
      generator.receive(packet, now);
    }
  }
  if (auto error = file.finish(0)) return *error;
  return written;
}

}  // namespace roost::trafficgen
