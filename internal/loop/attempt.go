package loop

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/prompt"
)

// attempt is the work of one agent for an iteration, up to the outcome of its
// trial. The attempts of an iteration become its Proposal; the one that decides is the last.
type attempt struct {
	// Proposed has what is recorded of it as it becomes known, with its number from 1; without
	// a verdict nothing was compared.
	history.Proposed
	of       int         // how many the iteration has
	agent    agent.Agent // nil where none began
	proposed *tree.Tree  // the agent's tree
	// from is a commit of the parent's files on top of the incumbent's others, ""
	// when the parent is the incumbent.
	from     string
	grown    strategy.Offspring // what it grows from
	failure  string             // what CI said of the files that it begins with, "" for nothing
	measured []*history.Measured
	tree     string // the candidate's tree object
	reply    agent.Reply
	masker   process.Masker // hides our secrets and the agent's
}

func (a *attempt) end(outcome state.Status, reasons ...decision.Reason) *attempt {
	a.Outcome, a.Reasons = outcome, reasons
	return a
}

// decide takes a decision over.
func (a *attempt) decide(d decision.Decision) {
	a.Verdict, a.Metric, a.PreviousBest, a.Best, a.Delta = d.Verdict, d.Metric, d.Previous, d.Best, d.Delta
	a.Evidence, a.Warning = d.Evidence, d.Warning
}

// tampered sorts what changed in the repository meanwhile: configuration, hooks
// and the program's own branch are nobody else's; other refs, and where isolation
// keeps it from others the program's file, may have been changed by a person at
// work, and are only said.
func (r *run) tampered(lines []string, when string) *decision.Reason {
	var touched []string
	for _, line := range lines {
		if strings.HasPrefix(line, "ref ") && !strings.HasPrefix(line, "ref "+r.ref()+" ") || r.Isolated &&
			strings.HasPrefix(line, "file ") {
			r.note("changed " + when + ": " + line)
			continue
		}
		touched = append(touched, line)
	}
	if len(touched) == 0 {
		return nil
	}
	return &decision.Reason{Kind: decision.RepositoryChanged, Term: when, Words: strings.Join(touched, "; ")}
}

// request is the task of one agent. What others propose at the same time is
// pending: it counts as no better than the incumbent.
func (r *run) request(ctx context.Context, at position, a *attempt,
	pending []*history.Decided,
) (agent.Request, error) {
	home := r.newDir("h")
	environ, err := r.Environ(home, r.Program.Env)
	if err != nil {
		return agent.Request{}, err
	}
	transcript, err := r.keptFile("", a.Proposal, a.Agent)
	if err != nil {
		return agent.Request{}, err
	}
	p, rules := r.Program, r.rules(at)
	entries := at.entries
	if a.from != "" {
		if entries, err = r.Repo.LsTree(ctx, a.from); err != nil {
			return agent.Request{}, err
		}
	}
	var files []string
	for _, entry := range entries {
		if rules.Allow(entry.Path) {
			files = append(files, entry.Path)
		}
	}
	notes := ""
	if handsBack(at) {
		notes = prompt.NotesFile
	}
	var past []*history.Decided
	earlier := 0 // iterations that are left out, which are part of what a search begins with
	if tunes(a) {
		past, earlier = r.records.trials(at.Definition)
	}
	limit, _ := r.limit(a.of)
	return agent.Request{
		Notes: notes, Dir: a.proposed.Dir, Prompt: r.prompt(at, a, files), Env: environ, Home: home,
		Timeout: r.time(), Limit: limit, Model: a.Model, Command: p.AgentCommand,
		IsTarget: rules.Allow, Targets: files, History: append(past, pending...),
		Direction: p.Direction, Incumbent: r.records.Best,
		Seed: r.seed() + int64(earlier), Iteration: r.iteration, Proposal: a.Proposal, Transcript: transcript,
	}, nil
}

func (r *run) prompt(at position, a *attempt, files []string) string {
	p, b, goal := r.Program, r.records, r.Program.Goal
	if p.Evaluation == program.Skill {
		goal = prompt.SkillGoal(goal, p.Skill)
	}
	room := 0
	if bounded, ok := a.agent.(interface{ PromptRoom() int }); ok {
		room = bounded.PromptRoom()
	}
	return prompt.Build(prompt.Input{
		Room:    room,
		Program: p.Name, Iteration: r.iteration, Goal: goal, Targets: program.Texts(p.Targets), Protected: r.never(at),
		Files:  files,
		Metric: p.Metric, Target: b.target(), Script: p.Script, Summary: &b.Summary,
		Sections: []prompt.Section{
			{Title: "Current priorities", Text: b.doc.Section(state.Priorities)},
			{Title: "Lessons learned", Text: b.doc.Section(state.Lessons)},
			{Title: "Foreclosed avenues", Text: b.doc.Section(state.Foreclosed)},
			{Title: "Future directions", Text: b.doc.Section(state.Future)},
		},
		Failed: b.Failed(b.Iteration), Handback: handsBack(at), Comments: r.instructions(),
		Proposal: a.Proposal, Proposals: a.of,
		Parent: a.grown.Parent, Inspirations: a.grown.Inspirations, Focus: a.Focus, Failure: a.failure,
	})
}

// guard holds the changed paths against the target. It ends the attempt when the
// candidate may not be measured.
func (r *run) guard(ctx context.Context, at position, proposed *tree.Tree, a *attempt) error {
	changes, err := proposed.Scan(ctx)
	if err != nil {
		return err
	}
	for _, change := range atMost(changes, maxChanged) {
		a.Changed = append(a.Changed, a.masker.String(change.Path))
	}
	if idle := a.reply.Idle; len(changes) == 0 && idle != nil && idle.Kind == agent.Denied {
		a.failed(idle)
		return nil
	}
	reasons, err := r.refuses(ctx, proposed.Staged(), at, at.Head, changes, a.masker)
	if err != nil || len(reasons) > 0 {
		a.end(history.Rejected, reasons...)
		return err
	}
	a.tree, err = proposed.Candidate(ctx, changes)
	return err
}

// summary is what the agent said it did, else which files changed.
func summary(said string, changed []string) string {
	if text := plain.Quote(said, 160); text != "" {
		return text
	}
	return "change " + plain.Quote(plain.Paths(atMost(changed, 3), 3), 300)
}

// never are what no candidate may change, although a target may match it.
func (r *run) never(at position) []string {
	list := program.Texts(r.Program.Protected)
	rules := r.rules(at)
	for _, file := range append(rules.Scripts, r.Program.File) {
		if r.Program.Allows(file) && !rules.Allow(file) {
			list = append(list, file)
		}
	}
	return list
}

// handsBack reports whether the agent may write notes: not where the
// repository has a file of that name.
func handsBack(at position) bool {
	return !slices.ContainsFunc(at.entries, func(e git.TreeEntry) bool { return e.Path == prompt.NotesFile })
}

// takeNotes reads what the agent handed back, without secrets, and removes it from the tree so
// that it is no part of the change. What is no regular file stays, for the
// guard to refuse.
func takeNotes(at position, dir string, masker process.Masker) (history.Notes, error) {
	if !handsBack(at) {
		return history.Notes{}, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return history.Notes{}, err
	}
	defer root.Close()
	// Only a part of so much is parsed, so that no secret is cut in two.
	text, err := files.ReadRegular(root, prompt.NotesFile, 2*prompt.MaxNotes)
	if err != nil {
		return history.Notes{}, nil // there are no notes, or the guard refuses what is there
	}
	_ = root.Remove(prompt.NotesFile) // else the guard refuses it
	return prompt.ParseNotes(masker.Bytes(text)), nil
}

// enterNotes adds the notes of the iteration to the sections that people read.
func (b *records) enterNotes(all history.Notes) {
	notes := prompt.Few(all)
	b.doc.Learn(state.Lessons, b.iteration, notes.Lessons)
	b.doc.Learn(state.Foreclosed, b.iteration, notes.Foreclosed)
	b.doc.Learn(state.Future, b.iteration, notes.Ideas)
}
