package loop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
)

// records are the three files of a program, read together.
type records struct {
	doc      *state.Doc
	machine  state.Machine
	table    *results.Table
	log      *history.Log
	warnings []string
	read     memory.Files // as they were read
	written  memory.Files // as they are to be written
	err      error        // of the first event that could not be added

	history.Summary // what the ledger adds up to
	*session        // that reads them
	course          // how far it has come with these records
}

// openRecords reads the files. What cannot be read is an error: it is never
// taken for a program that did not run yet.
func openRecords(s *session, files memory.Files) (*records, error) {
	p, b := s.Program, &records{read: files, session: s, course: s.course}
	var err error
	b.log = files.Ledger.Copy()
	if b.table, err = results.Parse(files.Results); err != nil {
		return nil, fmt.Errorf("read %s.results.tsv on the memory branch: %w", p.Name, err)
	}
	if files.State == nil {
		b.doc = state.New(p.Name)
	} else if b.doc, err = state.Parse(files.State); err != nil {
		problem := program.Problem{File: memory.MemoryBranch + ":" + p.Name + ".md", Message: err.Error()}
		if at, is := errors.AsType[*state.Problem](err); is {
			problem.Line = at.Line
		}
		return nil, fmt.Errorf("read %s", problem)
	}
	b.machine = b.doc.Machine()
	if files.State != nil && b.machine.DirectionGiven {
		p.GoOn(b.machine.Direction)
	}
	if err := p.Disagreements(program.Error).Err(); err != nil {
		return nil, err
	}
	for _, settled := range p.Disagreements(program.Warning) {
		b.warnings = append(b.warnings, settled.String())
	}
	b.Summary = history.Shown(b.log.Events)
	b.compare()
	return b, nil
}

// add adds an event, about the newest iteration unless it names another. The first that
// cannot be added is the error of the whole change.
func (b *records) add(e history.Event) {
	e = history.Stamp(e, b.id, b.Now())
	if head := e.Header(); head.Iteration == 0 {
		head.Iteration = b.Iteration
	}
	if b.err = cmp.Or(b.err, b.log.Append(e)); b.err != nil {
		return
	}
	if row := b.Show(e); row != nil {
		b.table.Append(*row, b.Program.Direction)
	}
}

// set records a setting whose value has changed.
func (b *records) set(key, value string) {
	after := b.Settings
	if after.Set(key, value); after != b.Settings {
		b.add(&history.Set{Key: key, Value: value})
	}
}

// pause lets no iteration begin until a person resumes the program.
func (b *records) pause(reason decision.Reason) {
	b.add(&history.Paused{Reason: reason})
	b.machine.Paused, b.machine.PauseReason = true, reason.String()
	b.stopped = b.machine.Stopped(b.Program.Name)
}

// goOn ends a pause and a completion.
func (b *records) goOn(reason decision.Reason) {
	b.machine.Paused, b.machine.PauseReason = false, ""
	b.machine.Completed, b.machine.CompletedReason = false, ""
	b.stopped = ""
	b.add(&history.Resumed{Reason: reason})
}

// target is the program's target metric: what a person set, until the program
// file says something else than then.
func (b *records) target() *metric.Value { return b.Target(b.Program.Target) }

func (b *records) completeAtTarget() {
	target := b.target()
	if b.Best == nil || b.Completed != nil || !b.Program.Direction.TargetMet(*b.Best, target) {
		return
	}
	reason := decision.Reason{
		Kind: decision.TargetReached, Value: b.Best, Beside: target,
		Term: b.Program.Direction.String(),
	}
	b.add(&history.Completed{Reason: reason})
	b.machine.Completed, b.machine.CompletedReason = true, reason.String()
	b.stopped = "completed: " + reason.String()
}

// compare warns where the state file and the ledger disagree. The ledger is right
// about numbers.
func (b *records) compare() {
	if b.read.State == nil || b.Best == nil {
		return
	}
	b.machine.Compare(b.Machine(b.machine, ""), func(row, is, ledger string) {
		switch row {
		case "Best Metric", "Initial Metric", "Iteration Count":
			b.warnings = append(b.warnings, fmt.Sprintf("%s was %s in the state and is %s in the ledger; "+
				"put right from the ledger", row, is, ledger))
		}
	})
}

// adopt takes over a state that has no ledger, as it is; its statuses in the order
// that ledgers have.
func (b *records) adopt() {
	if len(b.log.Events) > 0 || b.machine.IterationCount == 0 {
		return
	}
	statuses, _ := state.OldestFirst(b.doc.Bytes())
	b.add(&history.Set{Key: history.AdoptedStatuses, Value: strings.Join(statuses, ",")})
	b.add(&history.Set{Key: history.AdoptedIteration, Value: strconv.Itoa(b.machine.IterationCount)})
}

// readEdits turns what people edited in the state into events: a pause, a
// completion or a wait for a rate limit that they removed.
func (b *records) readEdits() {
	waiting := !b.NotBefore.IsZero() && b.machine.NotBefore == nil
	if (b.Paused != nil && !b.machine.Paused) || (b.Completed != nil && !b.machine.Completed) || waiting {
		b.add(&history.Resumed{Reason: decision.Reason{Kind: decision.EditedInState}})
	}
}

// files renders the records for writing.
func (b *records) files() memory.Files {
	p := b.Program
	if b.read.State == nil {
		b.doc.SetSection(state.ProgramInfo, programInfo(p))
	}
	m := b.Machine(b.machine, BranchPrefix+p.Name)
	m.Direction, m.DirectionGiven = p.Direction, true
	m.TargetMetric = b.target()
	m.Issue = cmp.Or(p.Issue, m.Issue)
	b.doc.SetMachine(m)
	b.doc.SetEntries(b.Entries, strings.TrimRight(b.RunURL, "0123456789"))
	return memory.Files{State: b.doc.Render(), Results: b.table.Bytes(), Ledger: b.log}
}

// programInfo introduces the program to who finds the state file first.
func programInfo(p *program.Program) string {
	metric := "the only number that the evaluation prints"
	if p.Metric != "" {
		metric = "`" + plain.Inline(p.Metric, 80) + "`"
	}
	schedule := cmp.Or(p.Schedule.Text, "at every tick")
	return fmt.Sprintf("- Program: `%s`\n- Metric: %s, %s is better\n- Schedule: %s\n- Kept changes: branch `%s`\n",
		plain.Inline(p.File, 200), metric, p.Direction, plain.Inline(schedule, 80), BranchPrefix+p.Name)
}

// recordsDigest identifies the three files of a program, except for the events that
// ApplyCommands may add while an iteration is under way and that change nothing
// of it: that a comment was answered.
func recordsDigest(files memory.Files) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q%q", files.State, files.Results)
	for _, it := range files.Ledger.Iterations() {
		for _, e := range it.Events {
			switch e := e.(type) {
			case *history.Answered:
				continue
			case *history.Set:
				if slices.Contains([]string{history.IssueNumber, history.Author, history.CommandsUntil}, e.Key) {
					continue
				}
			}
			if line, err := history.Line(e); err == nil {
				hash.Write(append(line, '\n'))
			}
		}
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}

// journal reads and changes the records of a run's program.
type journal struct {
	*session
	// store applies a change to the newest records and writes the result, with the move of a
	// branch, in one step.
	store func(ctx context.Context, u memory.Update) (commit string, err error)
	// mayWrite says, in the step that writes, why this run may not.
	mayWrite func(*records) error
	records  *records     // as they were last read or written
	files    memory.Files // the same, as bytes
}

// open reads the records.
func (r *journal) open(ctx context.Context) error {
	files, _, err := r.Memory.Read(ctx, r.Program.Name)
	if err != nil {
		return err
	}
	b, err := openRecords(r.session, files)
	if err == nil {
		r.records, r.files = b, files
	}
	return err
}

// write changes the records, and the program branch with them, in one step, as
// long as this run may.
func (r *journal) write(ctx context.Context, message string, branch *git.RefUpdate, change func(*records) error) error {
	return r.update(ctx, message, branch, func(b *records) error {
		if err := r.mayWrite(b); err != nil {
			return err
		}
		return change(b)
	})
}

// holdsLease is an error when another run took the program over.
func (b *records) holdsLease() error {
	if !b.Holds(b.id) {
		return errLeaseLost
	}
	return nil
}

// update changes the records. The change is applied again to fresh records when
// another run wrote first.
func (r *journal) update(ctx context.Context, message string, branch *git.RefUpdate,
	change func(*records) error,
) error {
	var b *records // of the attempt that counts, the last
	apply := func(before memory.Files) (files memory.Files, err error) {
		if b, err = openRecords(r.session, before); err != nil {
			return files, err
		}
		err = change(b)
		if err = cmp.Or(b.err, err); err != nil {
			return files, err
		}
		b.written = b.files()
		return b.written, nil
	}
	u := memory.Update{Program: r.Program.Name, Message: r.Program.Name + ": " + message, Apply: apply, Branch: branch}
	if r.refusal == "" {
		u.Claims = r.ref()
	}
	_, err := r.store(ctx, u)
	if files.Full(err) { // A tree that is kept for the next iteration may hold what filled the disk.
		r.Trees.Close()
		_, err = r.store(ctx, u)
	}
	if _, nothing := endOf(err); nothing || err == nil {
		r.records, r.course = b, b.course
	}
	if err == nil {
		r.files = b.written
	}
	return err
}
