package tests

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/cli"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/long"
)

// TestScripts runs what people type and holds what they see: the files of scripts, in the
// form of https://pkg.go.dev/github.com/rogpeppe/go-internal/testscript. `iterate` and
// `scheduler` run in this process. The files below `repo/` are committed first, and the
// script begins there; the numbers that its agent tries stand in the file `tries`. `var`
// sets a variable for all commands, `github` does there what people do (onGitHub), and [long]
// says whether long tests are asked for. With `-args -update` the files get what is printed
// now.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "scripts", UpdateScripts: golden.Updating(), RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(cleanEnviron(env.WorkDir, env.WorkDir), "WORK="+env.WorkDir, "BIN="+binaries)
			env.Cd = filepath.Join(env.WorkDir, "repo")
			env.Values["script"] = &script{t: t, remoteProject: &remoteProject{project: &project{
				t: t, dir: env.Cd, side: env.WorkDir, env: slices.Clone(env.Vars),
			}}}
			for _, line := range []string{"init -q -b main", "add -A", "commit -q --allow-empty -m start"} {
				cmd := exec.CommandContext(t.Context(), "git", strings.Fields(line)...)
				cmd.Dir, cmd.Env = env.Cd, env.Vars
				if err := os.MkdirAll(env.Cd, 0o755); err != nil {
					return err
				}
				if err := cmd.Run(); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == "long" && long.Asked(), nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"iterate": inScript(func(env cli.Env) answer { return inProcess(context.Background(), "iterate", env) }),
			"scheduler": inScript(func(env cli.Env) answer {
				return inProcess(context.Background(), "scheduler", env)
			}),
			"git": inScript(func(env cli.Env) answer {
				var stdout, stderr bytes.Buffer
				cmd := exec.CommandContext(context.Background(), "git", env.Args...)
				cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = env.Dir, env.Environ, &stdout, &stderr
				_ = cmd.Run()
				return answer{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
			}),
			"github": func(ts *testscript.TestScript, fails bool, args []string) {
				inScript(func(cli.Env) answer {
					s, _ := ts.Value("script").(*script)
					for i := range args {
						args[i] = strings.ReplaceAll(args[i], `\n`, "\n")
					}
					s.onGitHub(append(args, "github")[0], args[min(len(args), 1):]...)
					defer s.found.Reset()
					return answer{stdout: s.found.String()}
				})(ts, fails, args)
			},
			"var": func(ts *testscript.TestScript, _ bool, args []string) {
				s, _ := ts.Value("script").(*script)
				s.env = append(s.env, args...)
				for _, variable := range args {
					name, value, _ := strings.Cut(variable, "=")
					ts.Setenv(name, value)
				}
			},
		},
	})
}

// printedAnew is what is printed otherwise each time, and what stands for it.
var printedAnew = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`(?m)^not isolated: as root.*\n`), ""},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?Z?`), "TIME"},
	{regexp.MustCompile(`TIME-[0-9a-f]+|\b\d{8}T\d{6}Z-[0-9a-f]+`), "RUN"},
	{regexp.MustCompile(`\b[0-9a-f]{40}\b`), "COMMIT"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b|\b[0-9a-f]{7}\b`), "SHORT"},
	{regexp.MustCompile(`repo-[0-9a-f]{8}\b`), "repo-HASH"},
	{regexp.MustCompile(`\b\d\d-\d\d \d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s|min)\b`), "SECONDS"},
	{regexp.MustCompile(`(took +SECONDS): .*`), "$1"},
	{regexp.MustCompile(` {2,}`), "  "},
}

// inScript runs one of the binaries for a script, which wants success of `iterate`, and an
// exit code other than 0 of `! iterate`.
func inScript(run func(cli.Env) answer) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, fails bool, args []string) {
		s, _ := ts.Value("script").(*script)
		a := run(cli.Env{
			Args: args, Step: actions.Step{Dir: ts.MkAbs("."), Environ: s.environ()}, Now: time.Now,
		})
		same := func(text string) string {
			text = strings.ReplaceAll(text, ts.Getenv("WORK"), "$WORK")
			for _, one := range printedAnew {
				text = one.pattern.ReplaceAllString(text, one.as)
			}
			return text
		}
		_, err := ts.Stdout().Write([]byte(same(a.stdout)))
		ts.Check(err)
		_, err = ts.Stderr().Write([]byte(same(a.stderr)))
		ts.Check(err)
		if fails != (a.code != 0) {
			ts.Fatalf("exit code %d", a.code)
		}
	}
}
