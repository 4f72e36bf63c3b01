package loop

import (
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/loop/live"
)

// session is one run of one program: what identifies it, and what it has to say.
type session struct {
	*Service
	course

	begun    time.Time
	since    time.Time // when the first iteration of this process began
	warnings []string
}

// course is how far a run has come. What a change of the records finds out stays with those
// records until they are written: a change that lost a race is made again.
type course struct {
	id        string // of the run, or of the start that it works under
	iteration int
	stopped   string      // why the program takes no further iteration, "" when it does
	asked     bool        // somebody asked for an iteration now
	left      budget.Left // what the budgets leave to the iteration
	// reasons are those of the decision, as the records bear it out.
	reasons []decision.Reason
}

func (s *session) branch() string { return BranchPrefix + s.Program.Name }

func (s *session) ref() string { return "refs/heads/" + s.branch() }

func (s *session) step(stage, detail string) { s.tell(stage, detail, false) }

// minor is one of many similar steps.
func (s *session) minor(stage, detail string) { s.tell(stage, detail, true) }

func (s *session) tell(stage, detail string, minor bool) {
	if s.Progress != nil {
		s.Progress(live.Status{
			Program: s.Program.Name, Iteration: s.iteration, Stage: stage, Detail: detail, Since: s.Now(), Minor: minor,
		})
	}
}

// warn notes a warning. That the API cannot be reached is said once in a run.
func (s *session) warn(format string, args ...any) {
	for _, arg := range args {
		if err, is := arg.(error); is && api.Reported(err) {
			return
		}
	}
	s.note(fmt.Sprintf(format, args...))
}

// note adds warnings that are not noted yet: a run may read the same twice.
func (s *session) note(warnings ...string) {
	for _, warning := range warnings {
		if !slices.Contains(s.warnings, warning) {
			s.warnings = append(s.warnings, warning)
		}
	}
}

// seed is the program's own, so that chance repeats itself.
func (s *session) seed() int64 {
	sum := fnv.New64a()
	sum.Write([]byte(s.Program.Name))
	return int64(sum.Sum64() >> 1)
}

// rules say what a candidate may change.
func (s *session) rules(at position) decision.Rules {
	matcher := s.Program.Matcher()
	var files []string
	for _, entry := range at.entries {
		if strings.HasPrefix(entry.Mode, "100") {
			files = append(files, entry.Path)
		}
	}
	return decision.Rules{
		Target: matcher.Target, Protected: matcher.Protected, Literal: matcher.Literal,
		ProgramFile: s.Program.File, Scripts: s.Program.ScriptFiles(files),
	}
}

// newDir names a directory in a private one of its own, which nobody finds by
// listing what lies around it. All names have the same length, so that no tree
// has a longer path than another.
func (s *session) newDir(kind string) string {
	closed := filepath.Join(s.RunDir, "w")
	_ = os.Mkdir(closed, 0o300) // Where that fails, so does what is made in it.
	return filepath.Join(closed, strings.ToLower(rand.Text()), kind)
}

// remove deletes a directory that newDir named, with the private one around it.
func (s *session) remove(dir string) { _ = tree.RemoveAll(filepath.Dir(dir)) }
