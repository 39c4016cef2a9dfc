// The walled device: the processor's kernels on memory that the host cannot touch.
//
// Its pages are closed (PROT_NONE) except while one of its kernels or copies runs. So a program
// that runs here never follows an address of the device on the host, which on a device with memory
// of its own would be a crash or rubbish: here it is a segmentation fault at the place.
// Threads of one kernel may work while another stream's copy ends: pages close when the last is
// done. For tests, and slow: two system calls for each kernel.
#pragma once

#include "backend/device.h"

namespace cloze::backend::walled {

// Runs the kernels of the CPU.
Device& device();

}  // namespace cloze::backend::walled
