// Stands in for a header of gloo; see algorithm.h.
#pragma once

namespace gloo::transport {
class Device;
class UnboundBuffer;
}  // namespace gloo::transport
