package process

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// limits are the bounds of one command, all its descendants together.
type limits struct {
	Processes int
	Memory    int64 // in bytes, 0 for no bound
}

// The default bounds.
const (
	// defaultProcesses is how many processes a command may have.
	defaultProcesses = 4096
	// defaultMemory is the share of the machine's memory that it may have, in
	// percent.
	defaultMemory = 80
)

// limits are the bounds of this Runner's commands.
func (r *Runner) limits() limits {
	total, _ := systemMemory()
	return limits{cmp.Or(r.Processes, defaultProcesses), cmp.Or(r.Memory, total/100*defaultMemory)}
}

// tasks is how many processes and threads the kernel allows: a build of few
// processes may have many threads.
func (l limits) tasks() int { return 2 * l.Processes }

// group is the control group of one command, in which the kernel bounds it: what it is in
// each hierarchy that has bounds. It has none where the system does not let us.
type group []hierarchy

// hierarchy has the directory of a command's group (or of that in which it is made), and of
// the group that its supervisor is in but for the moment in which it starts the command.
type hierarchy struct{ dir, own string }

// firstGroupFD is the descriptor of a group's first directory in a supervisor: those before it
// are its line, and our binary for bwrap.
const firstGroupFD = binaryFD + 1

const groupPrefix = "autoloop-"

// newGroup makes a control group with these bounds.
func newGroup(bound limits) (made group) {
	for _, at := range groupHomes("/proc/self") {
		removeStaleGroups(at.dir)
		dir, err := os.MkdirTemp(at.dir, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid()))
		if err != nil {
			continue
		}
		bounds := put(dir, "pids.max", strconv.Itoa(bound.tasks()))
		for _, name := range []string{"memory.max", "memory.limit_in_bytes"} { // of version 2, and of 1
			most := bound.Memory
			text, _ := os.ReadFile(filepath.Join(at.own, name))
			if own, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil {
				most = min(most, own)
			}
			bounds = put(dir, name, strconv.FormatInt(most, 10)) || bounds
		}
		_ = put(dir, "memory.oom.group", "1")
		if !bounds || unix.Access(filepath.Join(at.own, "cgroup.procs"), unix.W_OK) != nil {
			_ = os.Remove(dir)
			continue
		}
		made = append(made, hierarchy{dir, at.own})
	}
	return made
}

func put(dir, file, text string) bool {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0) == nil
}

// open opens the directories, as they are handed to the supervisor.
func (g group) open() (files []*os.File) {
	for _, in := range g {
		for _, dir := range []string{in.dir, in.own} {
			file, _ := os.Open(dir) // nil is a descriptor that is not there
			files = append(files, file)
		}
	}
	return files
}

// handed is the group of so many hierarchies that this process was handed.
func handed(hierarchies int) (g group) {
	dir := func(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
	for i := range hierarchies {
		g = append(g, hierarchy{dir(firstGroupFD + 2*i), dir(firstGroupFD + 2*i + 1)})
	}
	return g
}

// start starts the command within the group: this process enters it for that
// moment, so that the command can at no time start another outside.
func (g group) start(begin func() (int, error)) (int, error) {
	for _, in := range g {
		_ = put(in.dir, "cgroup.procs", "0") // Where that is refused, the look at the processes is left.
	}
	pid, err := begin()
	for _, in := range g {
		_ = put(in.own, "cgroup.procs", "0")
	}
	return pid, err
}

// seal keeps the processes of the group from starting others.
func (g group) seal() {
	for _, in := range g {
		_ = put(in.dir, "pids.max", "0") // Best effort: they are killed next.
	}
}

// count is how often an event happened, by a file of that name; -1 where no such file is.
func (g group) count(event string, files ...string) int {
	most := -1
	for _, in := range g {
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(in.dir, name))
			if err != nil {
				continue
			}
			most = max(most, 0)
			for line := range strings.Lines(string(text)) {
				if number, is := strings.CutPrefix(strings.TrimSpace(line), event+" "); is {
					times, _ := strconv.Atoi(number) // The kernel wrote it.
					most = max(most, times)
				}
			}
		}
	}
	return most
}

func (g group) remove() {
	const most = 100
	for _, in := range g {
		for range most { // The last process is gone from it a moment after it ended.
			if err := os.Remove(in.dir); err == nil || os.IsNotExist(err) {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// removeStaleGroups removes the groups of processes that are gone.
func removeStaleGroups(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*")) // The pattern is well formed.
	for _, dir := range left {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		pid, err := strconv.Atoi(number)
		if _, running := readProc(pid); err == nil && !running {
			_ = os.Remove(dir) // One that is in use stays.
		}
	}
}

// groupHomes finds where groups that bound processes or memory can be made, from the files
// of a process in /proc.
func groupHomes(proc string) (homes group) {
	mounts, _ := os.ReadFile(filepath.Join(proc, "mountinfo"))
	groups, _ := os.ReadFile(filepath.Join(proc, "cgroup"))
	for line := range strings.Lines(string(mounts)) { // 36 35 0:31 /root /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
		before, after, _ := strings.Cut(line, " - ")
		where, what := strings.Fields(before), strings.Fields(after)
		if len(where) < 5 || len(what) < 3 {
			continue
		}
		below, err := filepath.Rel(where[3], groupIn(string(groups), what[0], strings.Split(what[2], ",")))
		if err != nil || !filepath.IsLocal(below) {
			continue
		}
		root, own := where[4], filepath.Join(where[4], below)
		if what[0] == "cgroup" {
			homes = append(homes, hierarchy{own, own})
			continue
		}
		// Version 2 has groups only below one without processes that hands the bounds on,
		// which is one around our own.
		for dir := own; within(dir, root); dir = filepath.Dir(dir) {
			text, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if err != nil {
				break
			}
			if handed := strings.Fields(string(text)); slices.Contains(handed, "pids") ||
				slices.Contains(handed, "memory") {
				homes = append(homes, hierarchy{dir, own})
				break
			}
		}
	}
	return homes
}

// groupIn is the group of a process in a hierarchy that bounds processes or memory, "" in
// others: groups has lines such as 8:pids:/path, or 0::/path for version 2.
func groupIn(groups, version string, options []string) string {
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			if version == "cgroup2" && fields[0] == "0" || version == "cgroup" &&
				(controller == "pids" || controller == "memory") && slices.Contains(options, controller) {
				return fields[2]
			}
		}
	}
	return ""
}
