// How a service gives new connections their backends (docs/decisions/0029-balancing-algorithms.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace roost::lb {

//                      the backend follows from                        the same on every instance
// kMaglev              both ends of the connection                     yes
// kSource              the client's address: it keeps its backend      yes
// kLeastConnections    how many connections each backend has           no
enum class Algorithm : uint8_t { kMaglev, kSource, kLeastConnections };
inline constexpr std::array<std::string_view, 3> kAlgorithmNames = {"maglev", "source",
                                                                    "least_connections"};

}  // namespace roost::lb
