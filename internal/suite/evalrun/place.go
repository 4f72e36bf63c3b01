package evalrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// at is the skill's path in a sandbox.
func (s *session) at() string { return path.Join(agent.ProjectOf(s.Agent).Skills, s.skill.Name) }

// fixture is the skill without its suites.
func (s *Skill) fixture() sandbox.Fixture {
	return sandbox.Fixture{Name: "skill " + s.Name, Dir: s.Dir, Leave: s.hidden}
}

// compose makes what a case begins with: the skill, the case's files and an
// empty outputs/.
func (s *session) compose(ctx context.Context, dir string, c evals.Case) (*sandbox.Template, error) {
	skill := s.skill.fixture()
	skill.At = s.at()
	parts := []sandbox.Fixture{skill}
	for _, below := range []string{"", evals.Dir} {
		var wanted []string
		for _, file := range c.Files {
			name, in := strings.CutPrefix(file.From, evals.Dir+"/")
			if in == (below != "") {
				wanted = append(wanted, name)
			}
		}
		if len(wanted) == 0 {
			continue
		}
		parts = append(parts, sandbox.Fixture{
			Name: "files of case " + c.ID, Dir: filepath.Join(cmp.Or(s.skill.Inputs, s.skill.Dir), below),
			Leave: func(name string) bool { return !slices.Contains(wanted, name) },
		})
	}
	template, err := sandbox.Compose(ctx, dir, "sandbox", parts, nil, evals.OutputsDir)
	if err != nil {
		return nil, faultOf(fmt.Errorf("case %s: %w", c.ID, err))
	}
	return template, nil
}

// prompt is what the executor is told: the case's prompt, and where things are.
func (s *session) prompt(c evals.Case) string {
	if c.Trigger != nil {
		return c.Prompt
	}
	var out strings.Builder
	out.WriteString(strings.TrimRight(c.Prompt, "\n"))
	out.WriteString("\n\n---\n")
	if !s.skill.bare {
		fmt.Fprintf(&out, "The skill %s is installed at %s. Read its %s first and follow it.\n", s.skill.Name,
			s.at(), SkillFile)
	}
	if s.url != "" {
		fmt.Fprintf(&out, "The server of the skill listens at %s.\n", s.url)
	}
	if len(c.Files) > 0 {
		out.WriteString("Files for this task:\n")
		for _, file := range c.Files {
			fmt.Fprintf(&out, "- %s\n", file.To)
		}
	}
	fmt.Fprintf(&out, "Put every file that you produce into %s/, in the current directory.\n", evals.OutputsDir)
	return out.String()
}

// request is the executor's.
func (s *session) request(box *sandbox.Box, c evals.Case, transcript string) agent.Request {
	env := []string{"AUTOLOOP_SKILL=" + filepath.Join(box.Dir, filepath.FromSlash(s.at()))}
	if s.url != "" {
		env = append(env, "AUTOLOOP_SERVER="+s.url)
	}
	return agent.Request{
		Prompt: s.prompt(c), Env: env, Transcript: transcript, Timeout: s.Timeout, Iteration: 1, Seed: 1,
	}
}

// serve starts the server of the skill anew, in a sandbox of its own with the
// skill's files. A server that does not start is a *misuse.Error: it is the skill's.
func (s *session) serve(ctx context.Context) (end func(), err error) {
	place := filepath.Join(s.RunDir, "server")
	template, err := sandbox.Prepare(ctx, place, s.skill.fixture(), nil)
	if err != nil {
		return nil, errors.Join(faultOf(err), s.Sandboxes.Remove(place))
	}
	box, err := s.Sandboxes.Open(ctx, filepath.Join(s.RunDir, "server-box"), template, s.Env)
	if err != nil {
		return nil, errors.Join(err, s.Sandboxes.Remove(place))
	}
	remove := func() error { return errors.Join(box.Close(), s.Sandboxes.Remove(place)) }
	server, why, err := box.Serve(ctx, s.Setup, s.Start, s.Timeout)
	if err == nil && why != "" {
		err = misuse.New(errors.New(why))
	}
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	s.url = server.URL
	return func() {
		server.Close()
		_ = remove() // else the run's directory goes with it
	}, nil
}
