package process

import (
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// readProcs reads all processes, by the number of their parent.
func readProcs() map[int][]proc {
	children := map[int][]proc{}
	for _, pid := range pids() {
		if p, ok := readProc(pid); ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	return children
}

// pids are the numbers of all processes.
func pids() []int {
	var all []int
	names, _ := os.ReadDir("/proc") // Whatever it gives before an error counts.
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// withDescendants are some processes and all below them.
func withDescendants(of []proc, children map[int][]proc) []proc {
	all, done := slices.Clone(of), map[int]bool{}
	for i := 0; i < len(all); i++ {
		if pid := all[i].pid; !done[pid] {
			done[pid] = true
			all = append(all, children[pid]...)
		}
	}
	return all
}

// sweeper kills the descendants of one process that are in other sessions than
// that process, and began later than since: for a supervisor all of them, for
// our main process those that a lost supervisor left to it.
type sweeper struct {
	root, session int
	since         uint64
}

func newSweeper(root int, since uint64) sweeper {
	own, _ := readProc(root)
	return sweeper{root: root, session: own.session, since: since}
}

// pass kills every such descendant that there is now, and returns root's own children
// among them, dead ones included.
func (s *sweeper) pass() (direct []proc) {
	children := readProcs()
	for _, child := range children[s.root] {
		if child.session != s.session && child.start >= s.since {
			direct = append(direct, child)
		}
	}
	for _, group := range groupsOf(direct) {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	for _, p := range withDescendants(direct, children) {
		if !p.zombie {
			p.kill()
		}
	}
	return direct
}

// groupsOf are the process groups of children, each once: the kernel goes through all
// of a group, and a fork bomb has thousands of children in one. Nobody but their
// parent reaps them, so their numbers and their groups' are still their own, and a
// group is never in two sessions.
func groupsOf(children []proc) []int {
	var groups []int
	for _, child := range children {
		if child.group != 0 {
			groups = append(groups, child.group)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// kill ends exactly this process, not one that got its number since.
func (p proc) kill() {
	handle, err := os.FindProcess(p.pid)
	if err != nil {
		return
	}
	defer handle.Release() //nolint:errcheck // A handle has nothing to lose.
	if now, ok := readProc(p.pid); ok && now.start == p.start {
		_ = handle.Signal(syscall.SIGKILL) // It may have ended, or be another user's.
	}
}

// orphans kills and reaps what lost supervisors left to this process, the first
// of which began at since. Nobody comes after it: it goes on for longer than a supervisor, as
// after a command that starts thousands on a machine that is slow. It is bounded in time,
// and called by one goroutine at a time.
func orphans(since uint64) {
	s := newSweeper(os.Getpid(), since)
	pause := time.Millisecond
	for limit := time.Now().Add(6 * killTime); time.Now().Before(limit); {
		direct := s.pass()
		if len(direct) == 0 {
			return
		}
		time.Sleep(pause)
		pause = min(2*pause, 50*time.Millisecond)
		for _, child := range direct {
			// It may need another pass.
			_, _ = syscall.Wait4(child.pid, nil, syscall.WNOHANG|syscall.WALL, nil)
		}
	}
}
