// cloze: trains BERT. Each subcommand is a file of this folder.
#include "cli/program.h"

int main(int argc, char** argv) { return cloze::cli::run_program(argc, argv); }
