// Package process runs other programs: quick ones such as git plainly, and
// those of agents and evaluations under a supervisor that leaves no process
// behind. It also builds their environment and masks secrets in their output.
// It is the only package that imports os/exec.
//
// # Supervision
//
// Runner.Run starts this same binary once more (see Supervise). That process
// makes itself the reaper of its descendants, starts the command in a session
// of its own, and stays its only parent: whatever is orphaned by a double fork
// comes back to it. When the command ends, when it is told to, or when our own
// process is gone (the control pipe closes), it kills all of its descendants,
// reports how the command ended, and exits.
//
// A command that kills its supervisor hands its orphans to us, the next reaper
// up. They are told from our own children by their session: a process may leave
// our session, never join it.
package process
