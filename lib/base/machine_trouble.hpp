// Whether the machine is to blame for what failed: memory, disks, descriptors. Whoever called the program then gets
// status 2, and not the 1 of bad parameters, for the file that was named is right and the words that named it, too.
//
// system_message() notes each error that it puts into words; cli::run_main() asks. From any thread.
#pragma once

namespace postal::base {

// An errno value; most are nothing of the kind (a file that is missing).
void note_trouble(int error_number) noexcept;
bool machine_has_trouble() noexcept;

}  // namespace postal::base
