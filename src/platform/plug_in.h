// Plug-ins: parts of the program that need a library which many machines lack. Each is a file of its own, opened when it is
// first needed, so that the program starts without that library.
#pragma once

#include "base/result.h"

namespace cloze::platform {

struct PlugIn {
  const char* file;     // "cloze_mpi.so"
  const char* serves;   // "MPI"
  const char* package;  // that installs the file: "cloze-mpi"
  const char* needs;    // the Debian package that building it needs: "libopenmpi-dev"
  const char* symbol;   // the function that it is opened for, extern "C"
};

// Returns the address of its symbol. The file is looked for in lib/cloze/plug_ins beside the program, as in a folder of builds, and in
// lib/cloze/plug_ins beside the program's folder, as where it is installed; nowhere else, since others may write there. It stays open
// until the program ends. The error says what is missing, and what to install.
Result<void*> find_in_plug_in(const PlugIn& plug_in);

}  // namespace cloze::platform
