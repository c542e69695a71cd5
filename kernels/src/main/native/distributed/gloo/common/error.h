// Stands in for a header of gloo, which libtorch has inside and whose headers it does not bring:
// what c10d's own headers name of it, and no more.
#pragma once
