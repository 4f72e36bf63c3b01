package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/org/autoloop/internal/process"
)

const (
	// batchIdle is how long the process that reads objects waits for the next
	// question before it is ended.
	batchIdle = 2 * time.Second
	// maxAsked is how many objects are asked for one by one. For more of them a
	// process that gets the whole list is faster.
	maxAsked = 64
)

// batch is one git process that reads objects for as long as there are questions.
type batch struct {
	mu   sync.Mutex
	talk *process.Conversation
	idle *time.Timer
}

// errUnasked says that the process cannot answer a question: it has to be put to
// a process of its own, which also knows the right error.
var errUnasked = errors.New("git cat-file gave no answer")

// The questions that a batch answers.
const (
	contents = "contents"
	info     = "info"
)

// flush ends questions: what was asked so far is answered.
const flush = "flush\x00"

// answer is an object, or with info all but its data.
type answer struct {
	Object
	Size int64
}

type objects struct{ *Repo }

func (r *Repo) objects() objects { return objects{r} }

// ask puts one question. Names with line breaks, and all that goes wrong, are
// errUnasked; the only other error is the context's.
func (r objects) ask(ctx context.Context, question, name string) (answer, error) {
	if name == "" || strings.ContainsAny(name, "\x00\n") {
		return answer{}, errUnasked
	}
	b := r.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := r.begin(b); err != nil {
		return answer{}, errUnasked
	}
	stop := context.AfterFunc(ctx, b.talk.Kill)
	defer stop()
	found, err := b.exchange(question, name)
	if err != nil {
		b.end()
		if ctx.Err() != nil {
			return answer{}, context.Cause(ctx)
		}
		return answer{}, errUnasked
	}
	b.idle.Reset(batchIdle)
	return found, nil
}

func (r objects) begin(b *batch) error {
	if b.talk != nil {
		b.idle.Stop()
		return nil
	}
	args := append([]string{"git"}, fixedArguments()...)
	args = append(args, "--git-dir="+r.GitDir, "--work-tree="+r.Root, "cat-file", "--batch-command", "--buffer", "-z")
	talk, err := process.Converse(r.Root, quiet(r.env.of(r.Identity, nil, false)), args...)
	if err != nil {
		return err
	}
	b.talk = talk
	b.idle = time.AfterFunc(batchIdle, func() { b.endIf(talk) })
	return nil
}

// quiet keeps of an environment what reading objects needs. The process goes on
// while agents and evaluations work, which can read the environment of every
// process of their user: no token may be in it.
func quiet(env []string) []string {
	return slices.DeleteFunc(env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "GIT_") {
			return false
		}
		switch strings.ToUpper(name) {
		case "PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "TEMP", "TMP", "LC_ALL", "SYSTEMROOT", "USERPROFILE":
			return false
		}
		return true
	})
}

// Close ends the process that reads objects, when there is one. The repository can
// still be used.
func (r *Repo) Close() {
	r.batch.mu.Lock()
	defer r.batch.mu.Unlock()
	if r.batch.talk != nil {
		r.batch.end()
	}
}

// endIf ends the process when it is still the one that became idle.
func (b *batch) endIf(idle *process.Conversation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.talk == idle {
		b.end()
	}
}

func (b *batch) end() {
	b.idle.Stop()
	b.talk.Close()
	b.talk, b.idle = nil, nil
}

// askEach puts many questions for contents and hands the answers over in their order.
// done is how many were handed over when the rest has to be asked in another way; the
// only other errors are each's and the context's.
func (r objects) askEach(ctx context.Context, names []string, each func(i int, o Object) error) (done int, err error) {
	if slices.ContainsFunc(names, func(name string) bool { return !isID(r.ObjectFormat, name) }) {
		return 0, errUnasked
	}
	b := r.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := r.begin(b); err != nil {
		return 0, errUnasked
	}
	stop := context.AfterFunc(ctx, b.talk.Kill)
	defer stop()
	go askAll(b.talk.In, names) // it ends with the last answer, or with the process
	var buffer []byte
	for i, name := range names {
		found, err := b.answerTo(contents, name, &buffer)
		if err != nil {
			b.end()
			if ctx.Err() != nil {
				return i, context.Cause(ctx)
			}
			return i, errUnasked
		}
		if err := each(i, found.Object); err != nil {
			b.end() // the other answers were not read
			return i, err
		}
	}
	b.idle.Reset(batchIdle)
	return len(names), nil
}

// askAll writes the questions, beside which the answers are read: git reads on while we
// are at the answers before. What cannot be written is noticed by its missing answer.
func askAll(to io.Writer, names []string) {
	const window = 256
	for asked := range slices.Chunk(names, window) {
		if _, err := io.WriteString(to, contents+" "+strings.Join(asked, "\x00"+contents+" ")+"\x00"+flush); err != nil {
			return
		}
	}
}

func (b *batch) exchange(question, name string) (answer, error) {
	if _, err := io.WriteString(b.talk.In, question+" "+name+"\x00"+flush); err != nil {
		return answer{}, err
	}
	return b.answerTo(question, name, new([]byte))
}

// answerTo reads the answer to a question, the data into the buffer, which grows.
func (b *batch) answerTo(question, name string, buffer *[]byte) (answer, error) {
	line, err := b.talk.Out.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) { // the name in it may be long
		return answer{}, err
	}
	head := string(line)
	if err != nil {
		rest, err := b.talk.Out.ReadString('\n')
		if err != nil {
			return answer{}, err
		}
		head += rest
	}
	if head == name+" missing\n" {
		return answer{}, nil
	}
	id, rest, _ := strings.Cut(strings.TrimSuffix(head, "\n"), " ")
	kind, size, found := strings.Cut(rest, " ")
	if !found || kind == "" {
		return answer{}, fmt.Errorf("git cat-file printed %.100q", head)
	}
	a := answer{Object: Object{ID: id, Type: kind}}
	if a.Size, err = strconv.ParseInt(size, 10, 64); err != nil || question == info {
		return a, err
	}
	if int64(cap(*buffer)) <= a.Size {
		*buffer = make([]byte, a.Size+1)
	}
	data := (*buffer)[:a.Size+1]
	if _, err := io.ReadFull(b.talk.Out, data); err != nil {
		return answer{}, err
	}
	a.Data = data[:a.Size:a.Size]
	return a, nil
}
