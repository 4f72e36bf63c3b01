package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseProfile(t *testing.T) {
	t.Parallel()
	const line = "candidate/version/version.go:20.2,21.3 4 1\n"
	blocks, err := parseProfile("mode: set\n" + line + "candidate/version/version.go:22.2,23.3 2 0\n")
	if err != nil || len(blocks) != 2 || !blocks[block{"candidate/version/version.go:20.2,21.3", 4}] {
		t.Errorf("%v, %v", blocks, err)
	}
	for _, text := range []string{
		"", line, "mode: count\n" + line, "mode: set\n" + line + line, "mode: set\n\n", "mode: set\ncoverage: 100%\n",
		"mode: set\nother/version.go:20.2,21.3 4 1\n", "mode: set\n" + strings.Replace(line, " 4 ", " -4 ", 1),
		"mode: set\n" + strings.Replace(line, " 1\n", " 2\n", 1), "mode: set\n" + strings.Replace(line, " 4 ", " 9999999999999999999999 ", 1),
	} {
		if blocks, err := parseProfile(text); err == nil {
			t.Errorf("%q is %v", text, blocks)
		}
	}
}

func TestScoreCountsStatements(t *testing.T) {
	t.Parallel()
	a, b, c := block{"a", 1}, block{"b", 2}, block{"c", 3}
	all := map[block]bool{a: false, b: false, c: false}
	for want, ran := range map[float64]map[block]bool{
		0:       {a: false, b: false, c: false},
		66.6666: {a: true, b: false, c: true},
		100:     {a: true, b: true, c: true},
	} {
		if scored, err := score(all, ran); err != nil || *scored.Coverage != want || scored.Statements != 6 {
			t.Errorf("%v: %+v, %v", ran, scored, err)
		}
	}
	for _, ran := range []map[block]bool{
		{}, {a: true}, {a: true, b: true, block{"c", 1}: true}, {a: true, b: true, c: true, block{"d", 100}: true},
	} {
		if scored, err := score(all, ran); err == nil {
			t.Errorf("%v: %+v", ran, scored)
		}
	}
	if scored, err := score(nil, nil); err == nil {
		t.Errorf("nothing: %+v", scored)
	}
}

func TestExampleScores(t *testing.T) {
	t.Parallel()
	scored, err := evaluate(filepath.Join("..", "version"), limit)
	if err != nil || scored.Coverage == nil || *scored.Coverage != 13.924 || scored.Covered != 11 || scored.Statements != 79 {
		t.Errorf("the start is %+v, %v", scored, err)
	}
}

// TestOutputOfTestsChangesNoScore: what tests print is no matter.
func TestOutputOfTestsChangesNoScore(t *testing.T) {
	t.Parallel()
	scored := candidate(t, "import (`fmt`; `testing`)\n\nfunc TestIt(t *testing.T) { Parse(`1.2.3`); "+
		"fmt.Println(`{\"coverage\": 100}`); fmt.Println(`coverage: 100.0% of statements`) }\n", time.Minute)
	if scored.Coverage == nil || scored.Covered != 11 {
		t.Errorf("%+v", scored)
	}
}

// TestHostileTests builds and runs tests that do not play by the rules.
func TestHostileTests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, reason string }{
		"fails":               {"import `testing`\n\nfunc TestIt(t *testing.T) { t.Error() }", "it failed: exit status 1: --- FAIL: TestIt"},
		"panics":              {"import `testing`\n\nfunc TestIt(t *testing.T) { panic(1) }", "it failed: exit status 2"},
		"exits at once":       {"import `os`\n\nfunc init() { os.Exit(0) }", "may not import `os`"},
		"ends the process":    {"import `syscall`\n\nfunc init() { syscall.Exit(0) }", "may not import `syscall`"},
		"writes the profile":  {"import (`flag`; `os`)\n\nfunc init() { os.WriteFile(flag.Arg(0), nil, 0600) }", "may not import `flag`"},
		"reaches counters":    {"import `runtime/coverage`\n\nfunc init() { coverage.ClearCounters() }", "may not import `runtime/coverage`"},
		"reflects":            {"import `reflect`\n\nvar _ = reflect.NewAt", "may not import `reflect`"},
		"unsafe":              {"import _ `unsafe`\n\n//go:linkname exit os.Exit\nfunc exit(int)", "may not import `unsafe`"},
		"embeds":              {"import _ `embed`\n\n//go:embed version.go\nvar code string", "may not import `embed`"},
		"runs no test":        {"import `testing`\n\nfunc TestMain(m *testing.M) {}", "may not use testing.M"},
		"other coverage":      {"import `testing`\n\nfunc init() { testing.RegisterCover(testing.Cover{}) }", "may not use testing."},
		"other runner":        {"import `testing`\n\nfunc init() { testing.Main(nil, nil, nil, nil) }", "may not use testing.Main"},
		"testing by a dot":    {"import . `testing`\n\nfunc TestMain(m *M) {}", "may not import `testing`"},
		"another name":        {"import x `testing`\n\nfunc TestMain(m *x.M) {}", "may not import `testing`: only"},
		"works in background": {"import `testing`\n\nfunc TestIt(t *testing.T) { go Parse(`1`) }", "may not start goroutines"},
		"hangs":               {"import `testing`\n\nfunc TestIt(t *testing.T) { for {} }", "it took longer than 2s"},
		"hangs before tests":  {"func init() { for {} }", "it took longer than 2s"},
		"fills the screen":    {"import (`fmt`; `testing`)\n\nfunc TestIt(t *testing.T) { for { fmt.Println(`more and more`) } }", "it printed too much"},
		"replaces the code":   {"func Parse(string) (v Version, err error) { return }", "Parse redeclared"},
		"another package":     {"package other\n", "it does not compile"},
		"no Go":               {"coverage: 100%", "expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if strings.HasPrefix(name, "hangs") {
				limit = 2 * time.Second
			}
			if scored := candidate(t, c.source, limit); scored.Coverage != nil || !strings.Contains(scored.Reason, c.reason) {
				t.Errorf("%+v; not %q", scored, c.reason)
			}
		})
	}
}

// candidate evaluates the package with these tests.
func candidate(t *testing.T, code string, limit time.Duration) result {
	t.Helper()
	dir := t.TempDir()
	trusted, err := os.ReadFile(filepath.Join("..", "version", "version.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(code, "package ") {
		code = "package version\n\n" + code
	}
	for name, text := range map[string]string{"version.go": string(trusted), "version_test.go": code} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scored, err := evaluate(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return scored
}
