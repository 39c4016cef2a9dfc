// The walled device: the processor's kernels on memory that the host cannot touch.
//
// Its pages are closed (PROT_NONE) except while one of its kernels or copies runs. So a program
// that runs here never dereferences a device address on the host. On a device with its own memory
// that would crash or give garbage; here it is a segmentation fault on the spot.
// Threads of one kernel may work while another stream's copy ends: pages close when the last is
// done. For tests, and slow: two system calls for each block of memory and span of launches.
#pragma once

#include "backend/device.h"

namespace cloze::backend::walled {

// Runs the kernels of the CPU.
Device& device();

}  // namespace cloze::backend::walled
