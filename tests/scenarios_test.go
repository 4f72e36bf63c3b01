package tests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/long"
)

// TestScenarios runs the scripts of testdata/scenarios. A script says what people, CI and
// agents do, and its file `want` what a user then finds: outcomes with the kind of their
// reason, Machine State, rows of results.tsv, branches, pull requests and exit codes.
// None of it knows how the records are stored.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.txtar"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 40)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			if strings.Contains(string(archive.Comment), "# long\n") {
				long.Only(t, long.Simulations)
			}
			t.Parallel()
			want := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
			require.Positive(t, want+1, "%s has no file `want`", file)
			s := newScript(t, archive.Files)
			for line := range strings.Lines(string(archive.Comment)) {
				s.do(strings.TrimSpace(line))
			}
			if golden.Updating() {
				archive.Files[want].Data = []byte(s.found.String())
				require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o600))
				return
			}
			found := s.found.String()
			if strings.Contains(string(archive.Comment), "# either: rejected or inconclusive\n") {
				found = strings.ReplaceAll(found, "inconclusive", "rejected") // as chance orders the runs
			}
			assert.Equal(t, string(archive.Files[want].Data), found)
		})
	}
}

// script is a scenario that runs.
type script struct {
	t     *testing.T
	files map[string]string
	*remoteProject
	hub   *hub
	found strings.Builder
}

// newScript makes the repository of a script: its files, and the program p. That is the
// file `program` or, where there is a file `front`, one whose metric is the number in
// value.txt, with these lines in its frontmatter.
func newScript(t *testing.T, files []txtar.File) *script {
	t.Helper()
	s := &script{t: t, files: map[string]string{}}
	tree := map[string]string{"value.txt": "10\n", "other.txt": "untouched\n"}
	for _, file := range files {
		s.files[file.Name] = string(file.Data)
		if rest, in := strings.CutPrefix(file.Name, "repo/"); in {
			tree[rest] = string(file.Data)
		}
	}
	if front, has := s.files["front"]; has {
		tree[".autoloop/programs/p.md"] = fmt.Sprintf(values, strings.TrimSpace(front))
	}
	if whole, has := s.files["program"]; has {
		tree[".autoloop/programs/p.md"] = whole
	}
	s.remoteProject = &remoteProject{project: newProject(t, tree)}
	return s
}

// scriptWords splits a line as a shell would, with single quotes.
var scriptWords = regexp.MustCompile(`'[^']*'|\S+`)

func (s *script) do(line string) {
	s.t.Helper()
	if line == "" || strings.HasPrefix(line, "#") {
		return
	}
	args := scriptWords.FindAllString(line, -1)
	for i := range args {
		args[i] = strings.ReplaceAll(strings.Trim(args[i], "'"), `\n`, "\n")
	}
	name, args := args[0], args[1:]
	s.say("> %s", line)
	switch name {
	case "tries":
		s.try(args...)
	case "write": // FILE TEXT, and commits it
		s.write(args[0], args[1]+"\n")
		s.commit("by hand")
	case "git":
		s.git(args...)
	case "edit": // the state, BEFORE AFTER
		s.edit(args[0], args[1])
	case "aside": // FILE, beside the repository
		require.NoError(s.t, os.WriteFile(filepath.Join(s.side, args[0]), []byte(s.files[args[0]]), 0o600))
	case "run":
		s.iterations(s.binary("iterate", append([]string{"--program", "p", "--json"}, args...)...))
	case "iterate", "scheduler":
		s.say("exit %d", s.binary(name, args...).code)
	case "plan":
		s.plan()
	case "two-jobs": // propose and publish
		s.inTwo(args...)
	case "facts":
		s.facts()
	case "compare":
		s.compare(args...)
	case "skill":
		s.improves(args...)
	default:
		s.onGitHub(name, args...)
	}
}

func (s *script) say(format string, args ...any) { fmt.Fprintf(&s.found, format+"\n", args...) }

// kinds are kinds of reasons in a word, by a part of what they say today.
var kinds = [][2]string{
	{"budget:", "budget"},
	{"target reached", "target-reached"},
	{"errors in a row", "errors-in-a-row"},
	{"by `iterate pause`", "paused-by-command"},
	{"by a comment of", "paused-by-comment"},
	{"until Monday", "paused-by-hand"},
	{"ci-fix-exhausted", "ci-fix-exhausted"},
	{"stuck in CI fix loop", "ci-fix-stuck"},
	{"does not merge into", "conflict"},
	{"plateau", "plateau"},
	{"the unchanged files cannot be measured", "unmeasurable"},
	{"pull request #2 closed", "pull-request-closed"},
	{"is ready for review", "pull-request-ready"},
	{"is stale", "stale"},
	{"fails on the unchanged files", "evaluation-fails-unchanged"},
	{"the evaluation fails", "evaluation-fails"},
	{"agent command failed", "agent-fails"},
	{"CI did not answer yet", "waits-for-ci"},
	{"is outside the target", "outside-target"},
	{"is protected", "protected"},
	{"is a link that leaves", "link-leaves"},
	{"no change proposed", "no-change"},
	{"guardrail", "guardrail"},
	{"equals the best so far", "tie"},
	{"below min-improvement", "too-small"},
	{"not scored", "unscored"},
	{"is implausible", "implausible"},
	{"does not depend on what", "independent"},
	{"perfect", "perfect"},
	{"reverts in a row", "reverts-in-a-row"},
	{"is worse than", "worse"},
	{"is better than", "better"},
	{"better: median", "better-median"},
	{"not better", "not-better"},
	{"inconclusive", "inconclusive"},
}

func kindOf(reason string) string {
	if reason == "" {
		return "none"
	}
	for _, kind := range kinds {
		if strings.Contains(reason, kind[0]) {
			return kind[1]
		}
	}
	return "UNKNOWN " + reason
}

func (s *script) iterations(a answer) {
	s.t.Helper()
	s.say("exit %d", a.code)
	if !strings.HasPrefix(a.stdout, "[") {
		s.say("kind %s", kindOf(a.stderr))
		return
	}
	for _, one := range s.decode(a.stdout) {
		s.iteration(one)
	}
}

func (s *script) iteration(one iteration) {
	verdict, delta := "-", "-"
	if one.Verdict != nil {
		verdict = *one.Verdict
	}
	if one.Delta != nil {
		delta = *one.Delta
	}
	reason := one.BaselineError
	if len(one.Reasons) > 0 {
		reason = one.Reasons[0]
	}
	if one.Noisy { // the order of its runs is random, and so is what they give
		s.say("%d %s noisy", one.Iteration, one.Outcome)
	} else {
		s.say("%d %s %s metric=%s best=%s delta=%s why=%s", one.Iteration, one.Outcome, verdict,
			cmp.Or(text(one.Metric), "-"), cmp.Or(text(one.Best), "-"), delta, kindOf(reason))
	}
	if one.Stopped != "" {
		s.say("  stopped=%s", kindOf(one.Stopped))
	}
}

func (s *script) plan() {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "autoloop.json")
	a := s.binary("scheduler", "--out", file)
	s.say("exit %d", a.code)
	var plan struct {
		Selected *string
		Skipped  []struct{ Name, Reason string }
		Errors   []struct{ Name string }
	}
	data := readText(s.t, file)
	require.NoError(s.t, json.Unmarshal([]byte(data), &plan))
	if plan.Selected != nil {
		s.say("selected %s", *plan.Selected)
	}
	for _, skipped := range plan.Skipped {
		word, _, _ := strings.Cut(skipped.Reason, ":")
		s.say("skipped %s: %s", skipped.Name, word)
	}
	for _, failed := range plan.Errors {
		s.say("error %s", failed.Name)
	}
}

// inTwo proposes in one call and publishes in another. What is named is done between them.
func (s *script) inTwo(between ...string) {
	s.t.Helper()
	if s.hub != nil {
		s.iteration(s.jobs.one())
		return
	}
	dir, proposed := s.propose("bundle")
	defer func() { require.NoError(s.t, os.RemoveAll(dir)) }()
	s.iteration(proposed)
	if len(between) > 0 {
		s.do(strings.Join(between, " "))
	}
	if _, err := os.Stat(dir); err == nil {
		s.iterations(s.binary("iterate", "job", "publish", "--program", "p", "--json", dir))
	}
}

// repository is where the branches are that count.
func (s *script) repository() string { return cmp.Or(s.bare, s.dir) }

var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`)

// facts are the records that people and other programs read.
func (s *script) facts() {
	s.t.Helper()
	at := func(args ...string) string { return s.run(s.repository(), append([]string{"git"}, args...)...) }
	for ref := range strings.Lines(at("for-each-ref", "--format=%(refname)", "refs/heads", "refs/autoloop")) {
		ref = strings.TrimSpace(ref)
		if ref == "refs/heads/memory/autoloop" || ref == "refs/heads/main" ||
			strings.HasPrefix(ref, "refs/autoloop/seen/") ||
			strings.Contains(ref, "obtained") {
			continue
		}
		s.say("%s %s ahead of main", ref, at("rev-list", "--count", "main.."+ref))
		log := at(
			"log",
			"--format=%(trailers:key=Autoloop-Iteration,valueonly,separator=)|%(trailers:key=Autoloop-Metric,valueonly,separator=)",
			"main.."+ref,
		)
		for line := range strings.Lines(log) {
			s.say("  iteration|metric %s", strings.TrimSpace(line))
		}
	}
	names := at("ls-tree", "--name-only", "memory/autoloop")
	if !strings.Contains(names, "p.md") {
		s.say("no state")
		return
	}
	state := at("show", "memory/autoloop:p.md")
	for line := range strings.Lines(state) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Field") {
			continue
		}
		field, value := strings.TrimPrefix(cells[0], "| "), strings.TrimSuffix(strings.TrimSpace(cells[1]), " |")
		value = times.ReplaceAllString(value, "TIME")
		if strings.HasSuffix(field, "Reason") && value != "—" {
			value = kindOf(value)
		}
		s.say("%s: %s", field, value)
	}
	for line := range strings.Lines(state) {
		if strings.HasPrefix(line, "### ") || strings.HasPrefix(line, "- **Status**") || strings.HasPrefix(line,
			"- **Metric**") {
			before, _, _ := strings.Cut(strings.TrimSpace(line), " — ")
			s.say("%s", before)
		}
	}
	if strings.Contains(names, "p.results.tsv") {
		s.rows(at("show", "memory/autoloop:p.results.tsv"))
	}
}

// rows are those of a table of results, without their times and what follows a dash.
func (s *script) rows(table string) {
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) == 6 && cells[1] != "timestamp" {
			cells[1] = "TIME"
			cells[5], _, _ = strings.Cut(cells[5], " — ")
		}
		s.say("%s", strings.Join(cells, "|"))
	}
}

func (s *script) compare(args ...string) {
	s.t.Helper()
	for i, arg := range args {
		if text, has := s.files[arg]; has {
			args[i] = filepath.Join(s.side, arg)
			require.NoError(s.t, os.WriteFile(args[i], []byte(text), 0o600))
		}
	}
	a := s.binary("iterate", append([]string{"compare", "--json"}, args...)...)
	var found struct {
		Verdict     string
		Promotable  bool
		Regressions []struct{ Kind, Task string }
	}
	s.say("exit %d", a.code)
	if a.stdout == "" {
		return
	}
	require.NoError(s.t, json.Unmarshal([]byte(a.stdout), &found), a.stdout)
	s.say("%s promotable=%t", found.Verdict, found.Promotable)
	for _, regression := range found.Regressions {
		s.say("  %s %s", regression.Task, regression.Kind)
	}
}

func (s *script) improves(args ...string) {
	s.t.Helper()
	a := s.skill(args...)
	s.say("exit %d", a.code)
	s.rows(s.read("s-autoresearch/results.tsv"))
	entries, err := os.ReadDir(filepath.Join(s.dir, "s-autoresearch"))
	require.NoError(s.t, err)
	for _, entry := range entries {
		if entry.IsDir() {
			s.say("%s/", entry.Name())
		}
	}
}

// onGitHub is what happens on GitHub.
func (s *script) onGitHub(name string, args ...string) {
	s.t.Helper()
	switch name {
	case "github": // [two-jobs]
		s.hub = s.withRemote().hub(ownedByAlice())
		if len(args) > 0 {
			s.hub.inTwoJobs()
		}
	case "issue":
		if len(args) == 0 {
			s.program(strings.Replace(onIssue, "metric: m\n", "metric: m\n"+s.files["issue"], 1))
			return
		}
		s.site.open(args[0], args[1], s.beside(args[2]), args[3:]...) // AUTHOR TITLE FILE LABEL...
	case "edited": // NUMBER FILE
		issue := s.site.look().Issue(s.number(args[0]))
		s.site.rewrite(issue.Number, issue.Title, s.beside(args[1]))
	case "said": // NUMBER: all that was said there
		for _, comment := range s.site.look().On(s.number(args[0])) {
			s.say("%s: %s", comment.Author, comment.Body)
		}
	case "report":
		s.report(args[0], args[1:]...)
	case "comment":
		s.remoteProject.say(args[0], args[1])
	case "merge":
		s.merge()
		s.git("fetch", "--quiet", "origin")
	case "close":
		s.site.closed(s.openPull())
	case "ready", "draft":
		s.hub.ready(name == "ready")
	case "labels": // LABEL... are those of the repository from now on
		s.hub.Change(func(state *githubtest.State) {
			if len(args) > 0 {
				state.Labels = args
			}
			s.say("%s", strings.Join(state.Labels, " "))
		})
	case "pull", "fork": // AUTHOR BRANCH: a pull request of the repository, or of a fork
		s.hub.Change(func(state *githubtest.State) {
			issue := state.OpenIssue(args[0], "[Autoloop: p]", "mine", time.Now())
			pull := &githubtest.Pull{Number: issue.Number, Head: args[1], Base: "main", HeadOf: state.Repository}
			if name == "fork" {
				pull.HeadOf, pull.HeadSHA = args[0]+"/repo", strings.Repeat("0", 40)
			}
			state.Pulls = append(state.Pulls, pull)
		})
	case "fails":
		s.hub.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Path: "/issues", Times: 1000})
	case "mends":
		s.hub.Mend()
	case "there":
		s.there()
	default:
		s.t.Fatalf("no command %q", name)
	}
}

func (s *script) number(text string) int {
	number, err := strconv.Atoi(text)
	require.NoError(s.t, err)
	return number
}

// there is what people find on GitHub.
func (s *script) there() {
	state := s.site.look()
	for _, issue := range state.Issues {
		kind, more := "issue", ""
		if pull := state.Pull(issue.Number); pull != nil {
			kind, more = "pull", fmt.Sprintf(" draft=%t merged=%t", pull.Draft, pull.Merged)
		}
		title := strings.ReplaceAll(issue.Title, time.Now().Format(time.DateOnly), "TODAY")
		s.say("%s #%d open=%t%s %q %v", kind, issue.Number, issue.Open, more, title, issue.Labels)
		for _, comment := range state.On(issue.Number) {
			mark, _, _ := strings.Cut(comment.Body, "\n")
			if comment.Author == state.Me {
				s.say("  %s", mark)
			}
		}
	}
}

// The four examples of the proposal.

// edit changes the state file as a person would, by a commit on its branch.
func (w *project) edit(before, after string) {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "memory")
	w.git("worktree", "add", "--quiet", dir, "memory/autoloop")
	file := filepath.Join(dir, "p.md")
	data := readText(w.t, file)
	require.Contains(w.t, data, before)
	require.NoError(w.t, os.WriteFile(file, []byte(strings.Replace(data, before, after, 1)), 0o600))
	w.run(dir, "git", "commit", "--quiet", "--all", "--message", "edit")
	w.git("worktree", "remove", dir)
}
