package iterate

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/prompt"
	"github.com/org/autoloop/internal/state"
	"github.com/org/autoloop/internal/tree"
)

// attempt is what one proposal came to, before anything is written.
type attempt struct {
	outcome   ledger.Outcome
	verdict   *gate.Verdict // nil when nothing was compared
	reasons   []string
	decision  gate.Decision
	measured  []ledger.Event // what the evaluations measured, a line for each stage and side
	noisy     bool           // the evaluation does not repeat itself
	rule      *gate.Rule     // how it was decided, nil when nothing was compared
	samples   Samples        // of the last stage
	tree      string         // the candidate's tree object
	changed   []string
	reply     agent.Reply
	notes     prompt.Notes // what the agent handed back
	durations map[string]float64
}

func (a *attempt) end(outcome ledger.Outcome, reasons ...string) *attempt {
	a.outcome, a.reasons = outcome, reasons
	return a
}

// attempt lets the agent propose, and measures what it proposed.
func (r *run) attempt(ctx context.Context, at position) (*attempt, error) {
	a := &attempt{durations: map[string]float64{}}
	r.step("propose", r.Agent.Name())
	proposed, err := r.Trees.Build(ctx, at.Head, r.newDir('t'), r.treeOptions(true))
	if err != nil {
		return nil, err
	}
	defer func() { _ = proposed.Remove() }()
	if done, err := r.propose(ctx, at, proposed, a); done || err != nil {
		return a, err
	}
	if a.notes, err = takeNotes(at, proposed.Dir); err != nil {
		return nil, err
	}
	if done, err := r.guard(ctx, at, proposed, a); done || err != nil {
		return a, err
	}
	return a, r.measure(ctx, at, a)
}

// propose runs the agent in the tree. It is done when the agent failed.
func (r *run) propose(ctx context.Context, at position, proposed *tree.Tree, a *attempt) (done bool, err error) {
	before, err := r.Repo.Fingerprint(ctx)
	if err != nil {
		return false, err
	}
	home := r.newDir('h')
	defer func() { _ = tree.RemoveAll(home) }()
	environ, err := r.Environ(home, r.Program.Env)
	if err != nil {
		return false, err
	}
	start := r.Now()
	a.reply, err = r.Agent.Propose(ctx, r.request(at, proposed.Dir, home, environ))
	a.durations["propose"] = r.Now().Sub(start).Seconds()
	if err != nil {
		return false, err
	}
	after, err := r.Repo.Fingerprint(ctx)
	if err != nil {
		return false, err
	}
	if touched := r.tampered(before.Diff(after)); len(touched) > 0 {
		a.end(ledger.Error, "the repository itself was changed while the agent ran: "+strings.Join(touched, "; "))
		return true, nil
	}
	if failure := a.reply.Failure; failure != nil {
		a.end(ledger.Error, fmt.Sprintf("agent %s failed (%s): %s", r.Agent.Name(), failure.Kind, failure.Message))
		return true, nil
	}
	return false, nil
}

// tampered sorts what changed in the repository while the agent ran:
// configuration, hooks and the program's own branch are nobody else's; other
// refs may have been moved by a person at work, and are only said.
func (r *run) tampered(lines []string) []string {
	var touched []string
	for _, line := range lines {
		if strings.HasPrefix(line, "ref ") && !strings.HasPrefix(line, "ref "+r.ref()+" ") {
			r.warnings = append(r.warnings, "changed while the agent ran: "+line)
			continue
		}
		touched = append(touched, line)
	}
	return touched
}

func (r *run) request(at position, dir, home string, environ []string) agent.Request {
	p, sum := r.Program, &r.books.sum
	targets := p.Matcher()
	var files []string
	for _, entry := range at.entries {
		if targets.Allows(entry.Path) {
			files = append(files, entry.Path)
		}
	}
	seed := fnv.New64a()
	seed.Write([]byte(p.Name))
	notes := ""
	if handsBack(at) {
		notes = prompt.NotesFile
	}
	return agent.Request{
		Notes: notes, Dir: dir, Prompt: r.prompt(at, files), Env: environ, Home: home, Timeout: p.Timeout, Model: p.Model, Command: p.AgentCommand,
		IsTarget: targets.Allows, Targets: files, History: r.trials(at), Direction: p.Direction, Incumbent: sum.Best,
		Seed: int64(seed.Sum64() >> 1), Iteration: r.iteration,
	}
}

// trials are the iterations that were decided under the same definition.
func (r *run) trials(at position) []agent.Trial {
	var trials []agent.Trial
	for _, tried := range r.books.sum.Attempts {
		if tried.Definition == at.identity.Definition {
			trials = append(trials, agent.Trial{
				Iteration: tried.Iteration, Params: tried.Params, Metric: tried.Metric, Previous: tried.PreviousBest,
				Accepted: tried.Outcome == ledger.Accepted,
			})
		}
	}
	return trials
}

func (r *run) prompt(at position, files []string) string {
	p, b := r.Program, r.books
	return prompt.Build(prompt.Input{
		Program: p.Name, Iteration: r.iteration, Goal: p.Goal, Targets: texts(p.Targets), Protected: texts(p.Protected), Files: files,
		Metric: p.Metric, Direction: p.Direction, Target: r.target(b), Initial: b.sum.Initial, Best: b.sum.Best, Script: p.Script,
		Sections: []prompt.Section{
			{Title: "Current priorities", Text: b.doc.Section(state.Priorities)},
			{Title: "Lessons learned", Text: b.doc.Section(state.Lessons)},
			{Title: "Foreclosed avenues", Text: b.doc.Section(state.Foreclosed)},
			{Title: "Future directions", Text: b.doc.Section(state.Future)},
		},
		Attempts: b.sum.Attempts, Output: b.sum.Output, Handback: handsBack(at),
	})
}

// guard holds the changed paths against the target. It is done when the
// candidate may not be measured.
func (r *run) guard(ctx context.Context, at position, proposed *tree.Tree, a *attempt) (done bool, err error) {
	changes, err := proposed.Scan(ctx)
	if err != nil {
		return false, err
	}
	for _, change := range changes {
		a.changed = append(a.changed, change.Path)
	}
	matcher := r.Program.Matcher()
	verdict := gate.Guard(changes, gate.Rules{
		Target: matcher.Target, Protected: matcher.Protected, Literal: matcher.Literal,
		ProgramFile: r.Program.File, Scripts: r.scripts(at),
	})
	if !verdict.OK {
		a.end(ledger.Rejected, verdict.Reasons()...)
		return true, nil
	}
	a.tree, err = proposed.Candidate(ctx, changes)
	return false, err
}

// scripts are the tracked regular files that the evaluation script names.
func (r *run) scripts(at position) []string {
	return r.Program.ScriptFiles(func(path string) bool {
		entry := at.tracked(path)
		return entry != nil && strings.HasPrefix(entry.Mode, "100")
	})
}

func (r *run) treeOptions(repository bool) tree.Options {
	return tree.Options{Git: repository, Share: slices.Clone(r.Program.Share)}
}

// commit writes the candidate as a commit on top of the incumbent.
func (r *run) commit(ctx context.Context, at position, a *attempt) (string, error) {
	subject := fmt.Sprintf("[Autoloop: %s] Iteration %d: %s", r.Program.Name, r.iteration, summary(a))
	trailers := fmt.Sprintf("Autoloop-Iteration: %d\nAutoloop-Metric: %s\nAutoloop-Run: %s\n", r.iteration, a.decision.Best, r.id)
	return r.Repo.CommitTree(ctx, a.tree, []string{at.Head}, subject+"\n\n"+trailers, r.Now().Truncate(time.Second))
}

func summary(a *attempt) string {
	if text := state.Inline(a.reply.Summary, 160); text != "" {
		return text
	}
	return "change " + strings.Join(a.changed[:min(len(a.changed), 3)], ", ")
}

// texts are the patterns as they were written.
func texts(patterns []program.Pattern) []string {
	list := make([]string, len(patterns))
	for i, pattern := range patterns {
		list[i] = pattern.Text
	}
	return list
}
