// EAL arguments as EAL reads them: which devices replay captures, and which combinations are
// refused.
#include "roost/io/capture_arguments.h"

#include <gtest/gtest.h>

#include "tests/io/capture_writer.h"

namespace roost::io {
namespace {

using Arguments = std::vector<std::string>;

TEST(CaptureArguments, devices_keep_their_order_and_their_captures) {
  const Result<std::vector<DeviceArgument>> devices = read_device_arguments(
      Arguments{"--no-huge", "--vdev=net_pcap0,rx_pcap=a.pcap,tx_pcap=b.pcap", "--vdev",
                "net_null3,size=64", "--vdev=eth_pcap7,tx_pcap=c.pcap"});
  ASSERT_TRUE(devices.ok());
  ASSERT_EQ(devices.value().size(), 3u);
  EXPECT_EQ(devices.value()[0].name, "net_pcap0");
  EXPECT_EQ(devices.value()[0].rx_paths, Arguments{"a.pcap"});
  EXPECT_EQ(devices.value()[0].tx_paths, Arguments{"b.pcap"});
  EXPECT_TRUE(devices.value()[0].is_replay());
  EXPECT_EQ(devices.value()[1].name, "net_null3");
  EXPECT_FALSE(devices.value()[1].is_replay());
  EXPECT_EQ(devices.value()[2].tx_paths, Arguments{"c.pcap"});
  EXPECT_FALSE(devices.value()[2].is_replay());
}

TEST(CaptureArguments, a_packet_socket_has_an_interface) {
  const auto devices = read_device_arguments(
      Arguments{"--vdev=net_af_packet0,qpairs=2,iface=eth0", "--vdev=net_tap0,iface=tap0"});
  ASSERT_TRUE(devices.ok());
  EXPECT_EQ(devices.value()[0].interface, "eth0");
  EXPECT_EQ(devices.value()[1].interface, "") << "its frames are no network card's";
}

TEST(CaptureArguments, an_endless_capture_is_no_replay) {
  for (const auto& [value, is_infinite] :
       {std::pair{"1", true}, {"0", false}, {"2", true}, {"no", false}}) {
    const Result<std::vector<DeviceArgument>> devices = read_device_arguments(
        Arguments{std::string("--vdev=net_pcap0,rx_pcap=a.pcap,infinite_rx=") + value});
    ASSERT_TRUE(devices.ok());
    EXPECT_EQ(devices.value()[0].is_infinite, is_infinite) << value;
    EXPECT_EQ(devices.value()[0].is_replay(), !is_infinite) << value;
  }
}

TEST(CaptureArguments, a_live_interface_is_no_replay) {
  const Result<std::vector<DeviceArgument>> devices =
      read_device_arguments(Arguments{"--vdev=net_pcap0,iface=eth0"});
  ASSERT_TRUE(devices.ok());
  EXPECT_FALSE(devices.value()[0].is_replay());
}

TEST(CaptureArguments, other_drivers_keys_are_not_read) {
  const Result<std::vector<DeviceArgument>> devices =
      read_device_arguments(Arguments{"--vdev=net_ring0,rx_pcap=a.pcap"});
  ASSERT_TRUE(devices.ok());
  EXPECT_FALSE(devices.value()[0].is_replay());
}

TEST(CaptureArguments, a_second_capture_on_one_port_is_refused) {
  const Result<std::vector<DeviceArgument>> devices =
      read_device_arguments(Arguments{"--vdev=net_pcap0,rx_pcap=a.pcap,rx_pcap=b.pcap"});
  ASSERT_FALSE(devices.ok());
  EXPECT_NE(devices.error().message.find("net_pcap0: rx_pcap is given twice"), std::string::npos);
}

TEST(CaptureArguments, an_endless_device_may_have_a_capture_for_each_queue) {
  const Result<std::vector<DeviceArgument>> devices = read_device_arguments(
      Arguments{"--vdev=net_pcap0,rx_pcap=a.pcap,rx_pcap=b.pcap,infinite_rx=1"});
  ASSERT_TRUE(devices.ok());
  EXPECT_EQ(devices.value()[0].rx_paths, (Arguments{"a.pcap", "b.pcap"}));
}

TEST(CaptureArguments, an_output_never_overwrites_an_input) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("in.pcap");
  write_capture(path, {{1, numbered_frame(0, 60)}});
  std::filesystem::create_symlink(path, directory.file("same.pcap"));
  const Arguments arguments = {"--vdev=net_pcap0,rx_pcap=" + path,
                               "--vdev=net_pcap1,tx_pcap=" + directory.file("same.pcap")};
  const Result<std::vector<DeviceArgument>> devices = read_device_arguments(arguments);
  ASSERT_FALSE(devices.ok());
  EXPECT_NE(devices.error().message.find("would overwrite the capture that net_pcap0 replays"),
            std::string::npos);
}

}  // namespace
}  // namespace roost::io
