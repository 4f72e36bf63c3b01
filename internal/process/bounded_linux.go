package process

import (
	"bytes"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// joined is a command's group as its supervisor has it.
type joined struct {
	enter, leave          []*os.File
	tasks, memory, amount *os.File // nil where the system has no cgroups
}

// join opens the files of a group that this process was handed.
func (p groupPlaces) join() joined {
	open := func(fd int) *os.File {
		if fd == 0 {
			return nil
		}
		return os.NewFile(uintptr(fd), "cgroup")
	}
	j := joined{tasks: open(p.Tasks), memory: open(p.Memory), amount: open(p.Most)}
	for i := range p.Enter {
		j.enter, j.leave = append(j.enter, open(p.Enter[i])), append(j.leave, open(p.Leave[i]))
	}
	return j
}

// start starts the command within the group: this process enters it for that
// moment, so that the command can at no time start another outside.
func (j joined) start(begin func() (int, error)) (int, error) {
	for _, file := range j.enter {
		_, _ = file.WriteString("0") // Where that is refused, the supervisor's own look at the processes is left.
	}
	pid, err := begin()
	for _, file := range j.leave {
		_, _ = file.WriteString("0")
	}
	return pid, err
}

// seal keeps the processes of the group from starting others.
func (j joined) seal() {
	if j.amount != nil {
		_, _ = j.amount.WriteAt([]byte("0"), 0) // Best effort: they are killed next.
	}
}

// hit reports whether the kernel says that a bound was reached.
func hit(events *os.File, name string) bool {
	if events == nil {
		return false
	}
	const most = 4096
	text := make([]byte, most)
	n, _ := events.ReadAt(text, 0) // At the end of the file it says so.
	for line := range bytes.Lines(text[:n]) {
		if fields := bytes.Fields(line); len(fields) == 2 && string(fields[0]) == name {
			return string(fields[1]) != "0"
		}
	}
	return false
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
