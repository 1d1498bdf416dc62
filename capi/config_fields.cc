#include "capi/config_fields.h"

#include "capi/roost_types.h"

namespace roost::capi {

Error refusal(std::string_view type, std::string_view field, const std::string& why) {
  return Error{std::string(type) + ": " + std::string(field) + " " + why};
}

Result<std::optional<PageKind>> pages_of(std::string_view type, uint32_t pages) {
  switch (pages) {
    case ROOST_PAGES_LARGEST:
      return std::optional<PageKind>{};
    case ROOST_PAGES_1GIB:
      return std::optional{PageKind::kHuge1GiB};
    case ROOST_PAGES_2MIB:
      return std::optional{PageKind::kHuge2MiB};
    case ROOST_PAGES_TRANSPARENT:
      return std::optional{PageKind::kTransparentHuge};
    case ROOST_PAGES_4KIB:
      return std::optional{PageKind::kSmall};
    default:
      return refusal(type, "pages", "is " + std::to_string(pages) + "; it is one of roost_pages");
  }
}

Result<std::optional<unsigned>> numa_node_of(std::string_view type, int32_t node) {
  if (node == -1) return std::optional<unsigned>{};
  if (node >= 0) return std::optional{static_cast<unsigned>(node)};
  return refusal(type, "numa_node",
                 "is " + std::to_string(node) + "; it is a node's number, or -1 for any");
}

}  // namespace roost::capi
