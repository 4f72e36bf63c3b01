package process_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/scratch"
)

// collecting is the name of a copy of the test binary in which the garbage collector
// never rests: a supervisor has no environment to ask for that.
const collecting = "collecting"

// victimMark makes the test binary a process that is killed while it runs a
// command: its value is the environment entry that marks the command.
const victimMark = "COMMAND_TEST_VICTIM"

func TestMain(m *testing.M) {
	if exe, _ := os.Executable(); filepath.Base(exe) == collecting {
		go func() {
			for {
				runtime.GC()
			}
		}()
	}
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	if mark := os.Getenv(victimMark); mark != "" {
		_, _ = process.NewRunner().Run(context.Background(), process.Spec{
			Args: []string{"sh", "-c", daemons + "wait"}, Dir: "/", Env: []string{path, mark},
		})
		os.Exit(0)
	}
	if address := os.Getenv(dialMark); address != "" {
		dialBoth(address)
		os.Exit(0)
	}
	if os.Getenv(boundedMark) != "" {
		runBounded()
		os.Exit(0)
	}
	if mark := os.Getenv(manyMark); mark != "" {
		runMany(mark)
		os.Exit(0)
	}
	scratch.Overlap()
	os.Exit(m.Run())
}

// Further roles of the test binary: to reach a server outside and one of its
// own; to be killed while it runs several commands, isolated by a method and not.
const (
	dialMark   = "COMMAND_TEST_DIAL"
	manyMark   = "COMMAND_TEST_MANY"
	methodMark = "COMMAND_TEST_METHOD"
	// boundedMark has it run commands as a user without control groups.
	boundedMark = "COMMAND_TEST_BOUNDED"
)

func dialBoth(outside string) {
	own, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It waits for nobody.
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, to := range [][2]string{{"host", outside}, {"own", own.Addr().String()}} {
		dialer := net.Dialer{Timeout: 5 * time.Second}
		if connection, err := dialer.DialContext(context.Background(), "tcp", to[1]); err == nil {
			_ = connection.Close()
			fmt.Println(to[0] + ": reached")
		} else {
			fmt.Println(to[0] + ": refused")
		}
	}
}

func runMany(mark string) {
	isolated := process.NewRunner()
	isolated.Isolation = &process.Isolation{Bubblewrap: os.Getenv(methodMark)}
	var running sync.WaitGroup
	for _, runner := range []*process.Runner{isolated, process.NewRunner(), isolated, process.NewRunner()} {
		running.Go(func() {
			_, _ = runner.Run(context.Background(), process.Spec{
				Args: []string{"sh", "-c", daemons + "wait"}, Dir: "/", Env: []string{path, mark},
			})
		})
	}
	running.Wait()
}

// daemons leaves processes in the background in every way that gets away from
// a plain kill of the process group.
const daemons = `
sleep 60000 &
setsid sleep 60000 &
(setsid sh -c 'trap "" TERM HUP INT; sleep 60000 & sleep 60000; sleep 60000' &)
setsid setsid sh -c '(sleep 60000 &) ; exec 0<&- 1>&- 2>&-; sleep 60000' &
`

// bomb doubles itself without end.
const bomb = `b() { b | b & }; b; sleep 60000`

// runBounded is the other role of the test binary: it says by what a command of
// its user is bounded, and how a fork bomb ends.
func runBounded() {
	runner := process.NewRunner().WithoutGroups()
	runner.Processes = 50
	// The hard limit comes just after the start.
	const limits = `until [ "$(ulimit -Su)" = "$(ulimit -Hu)" ]; do sleep 0.01; done; echo $(ulimit -Su) $(ulimit -Hu)`
	for _, script := range []string{limits, bomb} {
		result, err := runner.Run(context.Background(), process.Spec{
			Args: []string{"bash", "-c", script}, Dir: "/", Env: []string{path}, Timeout: time.Minute,
		})
		if err != nil || result.Exceeded == "" && !result.OK() {
			fmt.Println(err, result.ExitCode, string(result.Stderr))
			continue
		}
		fmt.Println(strings.TrimSpace(string(result.Stdout)) + result.Exceeded)
	}
}
