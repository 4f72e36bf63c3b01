package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Conversation is a quick program that answers on its standard output what it is
// asked on its standard input, without a supervisor. It is not safe for
// concurrent use, but Kill may be called at any time. The program ends when our
// own process is gone.
type Conversation struct {
	// In is its standard input, Out its standard output.
	In  io.Writer
	Out *bufio.Reader

	in    io.Closer
	out   *os.File
	cmd   *exec.Cmd
	ended chan struct{}
}

// answerBuffer is how much is read at once.
const answerBuffer = 64 << 10

// Converse starts a program in dir. The environment is env alone; its standard
// error is dropped. Close must be called.
func Converse(dir string, env []string, args ...string) (*Conversation, error) {
	path, err := LookPath(args[0], dir, env)
	if err != nil {
		return nil, err
	}
	c := &Conversation{ended: make(chan struct{})}
	started := make(chan error)
	go c.run(&exec.Cmd{Path: path, Args: args, Dir: dir, Env: explicit(env)}, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("run %s: %w", filepath.Base(args[0]), err)
	}
	return c, nil
}

// run starts the program and waits for its end. The signal on a parent's death
// belongs to the thread that forked, which has to live as long as the program.
func (c *Conversation) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.ended)
	ownGroup(cmd)
	cmd.Cancel = nil // Kill does what it would.
	in, err := cmd.StdinPipe()
	if err != nil {
		started <- err
		return
	}
	// Our own pipe: cmd.Wait would close one of cmd's while it is read.
	out, to, err := os.Pipe()
	if err != nil {
		started <- err
		return
	}
	cmd.Stdout = to
	err = cmd.Start()
	_ = to.Close()
	if err != nil {
		_ = out.Close()
		started <- err
		return
	}
	c.In, c.Out, c.in, c.out, c.cmd = in, bufio.NewReaderSize(out, answerBuffer), in, out, cmd
	started <- nil
	_ = cmd.Wait() // its answers have an end
}

// Kill ends the program at once; it may have ended already.
func (c *Conversation) Kill() {
	select {
	case <-c.ended:
	default:
		killGroup(c.cmd.Process)
	}
}

// Close ends the program, and returns when it is gone. Answers that were not
// read are lost.
func (c *Conversation) Close() {
	_ = c.in.Close()
	_ = c.out.Close() // What is still written would wait for a reader.
	c.Kill()
	<-c.ended
}
