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
	bound := limits{Processes: cmp.Or(r.Processes, defaultProcesses), Memory: r.Memory}
	if bound.Memory == 0 {
		total, _ := systemMemory()
		bound.Memory = total / 100 * defaultMemory
	}
	return bound
}

// tasks is how many processes and threads the kernel allows: a build of few
// processes may have many threads.
func (l limits) tasks() int { return 2 * l.Processes }

// group is a control group for one command, in which the kernel bounds it. The
// supervisor is in it only for the moment in which it starts the command.
type group struct {
	dirs []string
	// files are handed to the supervisor; places says which is which.
	files  []*os.File
	places groupPlaces
}

// groupPlaces are the descriptors of a group's files in a supervisor.
type groupPlaces struct {
	Enter []int
	Leave []int
	// Tasks and Memory count how often a bound was hit, Most is the bound of
	// tasks itself; 0 is no such file.
	Tasks  int
	Memory int
	Most   int
}

// firstGroupFD is the descriptor of a group's first file: those before it are
// the supervisor's own, and that of our binary for bwrap.
const firstGroupFD = binaryFD + 1

const groupPrefix = "autoloop-"

// group makes the control group of one command.
func (r *Runner) group(bound limits) *group {
	if r.ungrouped {
		return nil
	}
	return newGroup(bound)
}

// descriptors are those of all files of a group, in the order in which they were
// handed over.
func (p groupPlaces) descriptors() []uintptr {
	last := max(p.Tasks, p.Memory, p.Most)
	for i := range p.Enter {
		last = max(last, p.Enter[i], p.Leave[i])
	}
	var all []uintptr
	for fd := firstGroupFD; fd <= last; fd++ {
		all = append(all, uintptr(fd))
	}
	return all
}

// newGroup makes a control group with these bounds; nil where the system does not
// let us.
func newGroup(bound limits) *group {
	g := &group{}
	for _, at := range groupHomes("/proc/self") {
		g.add(at, bound)
	}
	if len(g.dirs) == 0 {
		return nil
	}
	return g
}

// add makes the group's directory in one hierarchy.
func (g *group) add(at groupHome, bound limits) {
	removeStaleGroups(at.parent)
	dir, err := os.MkdirTemp(at.parent, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid()))
	if err != nil {
		return
	}
	pids := put(filepath.Join(dir, "pids.max"), strconv.Itoa(bound.tasks()))
	memory := put(filepath.Join(dir, at.memoryLimit), strconv.FormatInt(at.least(bound.Memory), 10))
	enter, first := os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
	leave, second := os.OpenFile(filepath.Join(at.own, "cgroup.procs"), os.O_WRONLY, 0)
	if first != nil || second != nil || !pids && !memory {
		closeAll(enter, leave)
		_ = os.Remove(dir)
		return
	}
	g.dirs = append(g.dirs, dir)
	g.places.Enter = append(g.places.Enter, g.hand(enter))
	g.places.Leave = append(g.places.Leave, g.hand(leave))
	if pids {
		g.places.Tasks = g.open(filepath.Join(dir, "pids.events"), os.O_RDONLY)
		g.places.Most = g.open(filepath.Join(dir, "pids.max"), os.O_WRONLY)
	}
	if memory {
		_ = put(filepath.Join(dir, "memory.oom.group"), "1")
		g.places.Memory = g.open(filepath.Join(dir, at.memoryEvents), os.O_RDONLY)
	}
}

func put(file, text string) bool { return os.WriteFile(file, []byte(text), 0) == nil }

// hand has a file handed to the supervisor, and returns its descriptor there.
func (g *group) hand(file *os.File) int {
	g.files = append(g.files, file)
	return firstGroupFD + len(g.files) - 1
}

func (g *group) open(path string, how int) int {
	file, err := os.OpenFile(path, how, 0)
	if err != nil {
		return 0
	}
	return g.hand(file)
}

func (g *group) remove() {
	closeAll(g.files...)
	const most = 100
	for _, dir := range g.dirs {
		for range most { // The last process is gone from it a moment after it ended.
			if err := os.Remove(dir); err == nil || os.IsNotExist(err) {
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

type groupHome struct {
	parent string // in which it is made
	own    string // the group that we are in
	// The names of files: version 2 has others than version 1.
	memoryLimit, memoryEvents string
}

// least is the smaller one of a bound and of the bound of our own group.
func (h groupHome) least(bound int64) int64 {
	text, err := os.ReadFile(filepath.Join(h.own, h.memoryLimit))
	if err != nil {
		return bound
	}
	if own, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && own < bound {
		return own
	}
	return bound
}

// groupHomes finds the hierarchies that bound processes or memory, from the
// files of a process in /proc.
func groupHomes(proc string) []groupHome {
	mounts, err := os.ReadFile(filepath.Join(proc, "mountinfo"))
	if err != nil {
		return nil
	}
	membership, err := os.ReadFile(filepath.Join(proc, "cgroup"))
	if err != nil {
		return nil
	}
	var homes []groupHome
	for line := range strings.Lines(string(membership)) { // 8:pids:/path, or 0::/path
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		controllers := strings.Split(fields[1], ",")
		for _, one := range controllers {
			if one != "pids" && one != "memory" && fields[0] != "0" {
				continue
			}
			root, own := groupMount(string(mounts), one, fields[2])
			switch {
			case own == "":
			case one == "":
				homes = append(homes, unifiedHome(root, own)...)
			default:
				homes = append(homes, groupHome{own, own, "memory.limit_in_bytes", "memory.oom_control"})
			}
			break
		}
	}
	return homes
}

// groupMount returns where the hierarchy of a controller is mounted, and the
// directory of the group path there; "" when it is not. "" is version 2's.
func groupMount(mounts, controller, path string) (root, own string) {
	for line := range strings.Lines(mounts) { // 36 35 0:31 /root /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
		before, after, _ := strings.Cut(line, " - ")
		where, what := strings.Fields(before), strings.Fields(after)
		if len(where) < 5 || len(what) < 3 {
			continue
		}
		found := what[0] == "cgroup2" && controller == "" ||
			what[0] == "cgroup" && controller != "" && strings.Contains(","+what[2]+",", ","+controller+",")
		below, err := filepath.Rel(where[3], path)
		if found && err == nil && filepath.IsLocal(below) {
			return where[4], filepath.Join(where[4], below)
		}
	}
	return "", ""
}

// unifiedHome is where version 2 lets us make a group: only below one without
// processes that hands the bounds on, which is one around our own.
func unifiedHome(root, own string) []groupHome {
	for dir := own; within(dir, root); dir = filepath.Dir(dir) {
		handed, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err != nil {
			return nil
		}
		if fields := strings.Fields(string(handed)); slices.Contains(fields, "pids") ||
			slices.Contains(fields, "memory") {
			return []groupHome{{dir, own, "memory.max", "memory.events"}}
		}
	}
	return nil
}
