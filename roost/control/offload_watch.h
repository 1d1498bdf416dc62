// Finds out that the kernel's interface under a packet socket leaves to a network card what no card
// will do: checksums that are not finished, packets joined to frames longer than the MTU. Neither
// is on a wire; in a function that forwards them such packets are lost, or forwarded with wrong
// checksums.
//
// What the interface itself is set to is read at once. What its other end leaves unfinished only
// its frames tell, for a veth's other end is mostly in another network namespace: a thread looks
// at the first TCP and UDP packets that come in, by a packet socket of its own, and ends with them.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace roost::control {

class OffloadWatch {
 public:
  // Called with each finding: a sentence and the command that mends it. On the constructor's
  // thread, then on one of the watch.
  using Say = std::function<void(const std::string& finding)>;

  // What cannot be read, without the right or the interface, is left out.
  OffloadWatch(const std::vector<std::string>& interfaces, const Say& say);

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace roost::control
