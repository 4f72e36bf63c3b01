package process

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// proc is a process as /proc shows it. Number and start time together name it
// for good.
type proc struct {
	pid, parent, group, session int
	start                       uint64 // clock ticks since boot
	zombie                      bool
}

// readProc reads one process; ok is false when it is gone.
func readProc(pid int) (p proc, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	// The name stands in parentheses and may itself contain some.
	name := bytes.LastIndexByte(text, ')')
	if name < 0 {
		return proc{}, false
	}
	fields := bytes.Fields(text[name+1:])
	const state, parent, group, session, start = 0, 1, 2, 3, 19
	if len(fields) <= start {
		return proc{}, false
	}
	number := func(field int) int {
		n, _ := strconv.Atoi(string(fields[field])) // The kernel wrote it.
		return n
	}
	began, _ := strconv.ParseUint(string(fields[start]), 10, 64)
	return proc{
		pid: pid, parent: number(parent), group: number(group), session: number(session),
		start: began, zombie: fields[state][0] == 'Z' || fields[state][0] == 'X',
	}, true
}

// Start tells when a process was started, so that its number used again
// is not taken for it: the boot and the clock tick. It is "" for a process that is gone.
func Start(pid int) string {
	if p, ok := readProc(pid); ok && !p.zombie {
		return fmt.Sprintf("%d@%s", p.start, bootID())
	}
	if self() == "" && running(pid) { // without /proc
		return "running"
	}
	return ""
}

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
	seen          map[proc]bool // what was killed, by number and start time
}

func newSweeper(root int, since uint64) sweeper {
	own, _ := readProc(root)
	return sweeper{root: root, session: own.session, since: since, seen: map[proc]bool{}}
}

// pass kills every such descendant that there is now, counting all but the
// process main, and returns root's own children among them, dead ones included.
func (s *sweeper) pass(main int) (direct []proc) {
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
		if p.zombie {
			continue
		}
		if p.pid != main {
			s.seen[proc{pid: p.pid, start: p.start}] = true
		}
		p.kill()
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

func (s *sweeper) killed() int { return len(s.seen) }

// alive is how many of them are still running.
func (s *sweeper) alive() int {
	count := 0
	for p := range s.seen {
		if now, ok := readProc(p.pid); ok && now.start == p.start && !now.zombie {
			count++
		}
	}
	return count
}

// orphans kills and reaps what lost supervisors left to this process, the first
// of which began at since. Nobody comes after it: it goes on for longer while it
// finds more, as after a command that starts thousands on a machine that is
// slow. It is bounded in time, and called by one goroutine at a time.
func orphans(since uint64) (killed, left int) {
	s := newSweeper(os.Getpid(), since)
	deadline := time.Now().Add(killTime)
	limit := deadline.Add(5 * killTime)
	pause := time.Millisecond
	for time.Now().Before(deadline) {
		before := s.killed()
		direct := s.pass(0)
		if len(direct) == 0 {
			break
		}
		if more := time.Now().Add(killTime); s.killed() > before && more.Before(limit) {
			deadline = more
		}
		time.Sleep(pause)
		pause = min(2*pause, 50*time.Millisecond)
		for _, child := range direct {
			// It may need another pass.
			_, _ = syscall.Wait4(child.pid, nil, syscall.WNOHANG|syscall.WALL, nil)
		}
	}
	return s.killed(), s.alive()
}
