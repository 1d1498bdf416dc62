#include "lab/switch/station_frames.h"

#include <algorithm>
#include <vector>

#include "lab/switch/stations.h"
#include "roost/traffic/draw.h"
#include "roost/traffic/zipf.h"

namespace roost::lab {

void write_station_frames(const StationFrames& shape, CaptureFiles& files) {
  const uint64_t of_port = shape.stations / kStationPorts;
  traffic::Draw draw(shape.seed);
  const traffic::Zipf zipf(of_port, shape.zipf);
  const auto draw_station = [&](size_t port) {
    const uint64_t number = shape.zipf > 0 ? zipf.rank(draw) - 1 : draw.below(of_port);
    return number * kStationPorts + port;
  };
  std::vector<uint8_t> bytes(shape.frame_bytes, 0);
  for (uint64_t frame = 0; frame < shape.frames; ++frame) {
    const size_t file = frame % (kStationPorts * shape.workers);
    const size_t port = file / shape.workers;
    const uint64_t source = draw_station(port);
    const StationFrame made = frame_between(source, draw_station(1 - port));
    std::ranges::copy(made, bytes.begin());
    files.write(file, bytes);
  }
}

}  // namespace roost::lab
