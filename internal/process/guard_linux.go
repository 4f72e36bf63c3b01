package process

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// guardEvery is how often the bounds are looked at. A look reads a few small
	// files: what is measured does not notice it.
	guardEvery = 100 * time.Millisecond
	// countEvery is how many looks there are to a count of the processes where the
	// kernel holds no bounds: what others give back can hide what a command takes.
	countEvery = 10
	// scarce is the share of the machine's memory, in percent, below which a
	// command that has most of it is ended.
	scarce = 3
	// expendable makes the kernel end a command before the supervisor when the
	// memory is used up.
	expendable = "500"
)

// guard ends a command that takes the machine from the others: when the kernel
// says that it reached the bounds of its group, and when a count of its
// processes and their memory says so. The zero guard ends none.
type guard struct {
	bound limits
	group group
	tasks int   // of the whole system when the command began
	free  int64 // memory of the system then, in bytes
	looks int
}

// exceeded says which bound the descendants of this process are over, "" when
// it is over none of them. They are counted when the system has many more tasks, or much less
// memory, than at the beginning, or hardly any, and now and then where the kernel does not bound them.
func (g *guard) exceeded() string {
	if g.bound.Processes == 0 {
		return ""
	}
	if reached := g.reached(); reached != "" {
		return reached
	}
	total, available := systemMemory()
	short := available < total/100*scarce
	unheld := g.group.count("oom_kill", memoryEvents...) < 0 && g.bound.Memory > 0
	g.looks++
	due := (unheld || g.group.count("max", taskEvents) < 0) && g.looks%countEvery == 0
	much := unheld && g.free-available > g.bound.Memory/2
	if systemTasks() < g.tasks+g.bound.Processes/2 && !short && !much && !due {
		return ""
	}
	count, resident := descendants(os.Getpid())
	switch {
	case count > g.bound.Processes:
		return g.tooMany()
	case unheld && resident > g.bound.Memory:
		return g.tooLarge()
	case short && resident > total/2:
		return fmt.Sprintf("it used %d of the machine's %d MB of memory", resident>>20, total>>20)
	default:
		return ""
	}
}

const taskEvents = "pids.events"

// memoryEvents are the files of version 2 and of version 1.
var memoryEvents = []string{"memory.events", "memory.oom_control"}

// reached says which bound of its group the kernel held the command to, or
// "".
func (g *guard) reached() string {
	switch {
	case g.group.count("max", taskEvents) > 0:
		return g.tooMany()
	case g.group.count("oom_kill", memoryEvents...) > 0:
		return g.tooLarge()
	default:
		return ""
	}
}

func (g *guard) tooMany() string {
	return fmt.Sprintf("it had more than %d processes", g.bound.Processes)
}

func (g *guard) tooLarge() string {
	return fmt.Sprintf("it used more than %d MB of memory", g.bound.Memory>>20)
}

// systemTasks is how many processes and threads there are, 0 when the system does
// not tell.
func systemTasks() (all int) {
	text, _ := os.ReadFile("/proc/loadavg") // 0.20 0.18 0.12 1/80 11206
	_, after, _ := strings.Cut(string(text), "/")
	_, _ = fmt.Sscan(after, &all)
	return all
}

// systemMemory is the memory of the machine, in bytes, and what of it is left.
func systemMemory() (total, available int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kilobytes, _ := strconv.ParseInt(string(fields[1]), 10, 64) // The kernel wrote it.
		switch string(fields[0]) {
		case "MemTotal:":
			total = kilobytes << 10
		case "MemAvailable:":
			return total, kilobytes << 10
		}
	}
	return 0, 0
}

// descendants counts the processes below root, and the memory that they have in
// bytes.
func descendants(root int) (count int, resident int64) {
	children := readProcs()
	for _, p := range withDescendants(children[root], children) {
		if !p.zombie {
			count++
			resident += residentOf(p.pid)
		}
	}
	return count, resident
}

func residentOf(pid int) int64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	var size, pages int64
	_, _ = fmt.Sscan(string(text), &size, &pages) // 0 for one that is gone
	return pages * int64(os.Getpagesize())
}

// makeExpendable prefers a command when the kernel has to end a process. Its
// descendants inherit that.
func makeExpendable(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(expendable), 0) // Best effort.
}

// boundTasks bounds the processes and threads of our own user for what begin
// starts, where it is not root's, for which the kernel has no such bound. The
// others that the user has already do not count.
func boundTasks(more int, begin func() (int, error)) (int, error) {
	if os.Geteuid() == 0 {
		return begin()
	}
	var was unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &was) != nil {
		return begin()
	}
	most := uint64(tasksOf(os.Getuid()) + more)
	if most >= was.Cur {
		return begin()
	}
	soft := unix.Rlimit{Cur: most, Max: was.Max}
	if unix.Setrlimit(unix.RLIMIT_NPROC, &soft) != nil {
		return begin()
	}
	pid, err := begin()
	_ = unix.Setrlimit(unix.RLIMIT_NPROC, &was) // Up to the hard limit it may be raised again.
	if err == nil {
		hard := unix.Rlimit{Cur: most, Max: most}
		_ = unix.Prlimit(pid, unix.RLIMIT_NPROC, &hard, nil) // It may have ended by now.
	}
	return pid, err
}

// tasksOf counts the processes and threads of a user.
func tasksOf(user int) int {
	count := 0
	for _, pid := range pids() {
		dir := "/proc/" + strconv.Itoa(pid)
		var of, tasks unix.Stat_t
		if unix.Stat(dir, &of) == nil && uint64(of.Uid) == uint64(user) && unix.Stat(dir+"/task", &tasks) == nil {
			count += int(min(tasks.Nlink, math.MaxInt32)) - 2 // Each thread is a directory.
		}
	}
	return count
}
