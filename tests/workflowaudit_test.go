package tests

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

type workflowStep struct {
	ID, If, Uses, Run string
	With              map[string]any
	Env               map[string]string
}

// mode is what our action does in a step; "" for other steps.
func (s workflowStep) mode() string {
	if !strings.HasPrefix(s.Uses, "org/autoloop@") {
		return ""
	}
	mode, given := s.With["mode"].(string)
	if !given {
		return "run"
	}
	return mode
}

// worker is a command that runs a program's code, or an agent.
var worker = regexp.MustCompile(`(?m)(^|[\s;&|/])iterate(\s+(propose|tasks|skill|-)|\s*$|\s*[;&|])`)

// works says whether a step runs code of a program or an agent.
func (s workflowStep) works() bool {
	return slices.Contains([]string{"run", "iterate", "propose", "compare"}, s.mode()) || worker.MatchString(s.Run)
}

type workflowJob struct {
	If, Uses    string
	Needs       any
	Permissions any
	Concurrency any
	Env         map[string]string
	With        map[string]any
	Secrets     any
	Timeout     any `yaml:"timeout-minutes"`
	Outputs     map[string]string
	Strategy    struct {
		MaxParallel int   `yaml:"max-parallel"`
		FailFast    *bool `yaml:"fail-fast"`
	}
	Steps []workflowStep
}

func (j workflowJob) works() bool { return slices.ContainsFunc(j.Steps, workflowStep.works) }

type workflowFile struct {
	Name        string
	On          any
	Permissions any
	Concurrency any
	Env         map[string]string
	Jobs        map[string]workflowJob
	Inputs      map[string]any
	Outputs     map[string]any
	Runs        struct{ Steps []workflowStep }
}

// events are what starts a workflow.
func (w workflowFile) events() []string {
	switch on := w.On.(type) {
	case string:
		return []string{on}
	case []any:
		var list []string
		for _, event := range on {
			list = append(list, fmt.Sprint(event))
		}
		return list
	case map[string]any:
		return slices.Sorted(maps.Keys(on))
	default:
		return nil
	}
}

// audit holds the rules for workflows and returns what breaks them, each
// finding with the rule's word first. What one file is allowed beyond them is
// in may, as "rule job".
func audit(text string, may ...string) []string {
	a := &auditor{text: text, may: may}
	if err := yaml.Unmarshal([]byte(text), &a.workflow); err != nil {
		return []string{"yaml: " + err.Error()}
	}
	a.whole()
	for _, name := range slices.Sorted(maps.Keys(a.workflow.Jobs)) {
		a.job(name, a.workflow.Jobs[name])
	}
	return a.found
}

type auditor struct {
	text     string
	workflow workflowFile
	may      []string
	found    []string
}

func (a *auditor) find(rule, job, format string, args ...any) {
	if !slices.Contains(a.may, rule+" "+job) {
		a.found = append(a.found, fmt.Sprintf("%s: %s: ", rule, job)+fmt.Sprintf(format, args...))
	}
}

var (
	usesLine   = regexp.MustCompile(`(?m)^\s*(?:- )?uses: *(\S+)(.*)$`)
	pinned     = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	version    = regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`)
	expression = regexp.MustCompile(`\$\{\{.*?\}\}`)
	eventWord  = regexp.MustCompile(
		`github\.(event\.[\w.*-]+|head_ref)|github\.event\b|github\s*\[[^]]*\]|\(\s*github\s*\)`)
	secretWord = regexp.MustCompile(`secrets\.(\w+)|secrets\s*\[|\(\s*secrets\s*\)`)
	tokenWord  = regexp.MustCompile(`secrets\.(AUTOLOOP_TOKEN|GITHUB_TOKEN)|github\.token|github\s*\[`)
)

// whole holds what concerns the file.
func (a *auditor) whole() {
	if permissions, given := a.workflow.Permissions.(map[string]any); !given || len(permissions) > 0 {
		a.find("permissions", "", "the workflow itself has permissions; give them to its jobs")
	}
	for _, event := range a.workflow.events() {
		if event == "pull_request_target" {
			a.find("target", "", "pull_request_target runs strangers' text with secrets")
		}
	}
	for _, action := range unpinned(a.text) {
		a.find("pin", "", "%s is not pinned to a commit with its version behind it", action)
	}
	for name, value := range a.workflow.Env {
		a.value("", name, value)
		if secretWord.MatchString(value) {
			a.find("secret", "", "%s is there for every job", name)
		}
	}
}

// unpinned are the actions of others that may change under the same name.
func unpinned(text string) []string {
	var list []string
	for _, found := range usesLine.FindAllStringSubmatch(text, -1) {
		action, comment := found[1], found[2]
		ours := strings.HasPrefix(action, "./") || action == "org/autoloop@v1"
		if !ours && (!pinned.MatchString(action) || !version.MatchString(comment)) {
			list = append(list, action)
		}
	}
	return list
}

// job holds what concerns one job.
func (a *auditor) job(name string, job workflowJob) {
	permissions, given := job.Permissions.(map[string]any)
	if !given {
		a.find("permissions", name, "it names none")
	}
	for scope, level := range permissions {
		if level == "write" && job.works() {
			a.find("write", name, "%s: write beside a program's code", scope)
		}
	}
	if job.Uses == "" && job.Timeout == nil {
		a.find("timeout", name, "it has no timeout")
	}
	if job.Secrets == "inherit" {
		a.find("secret", name, "it hands on all secrets")
	}
	for input, value := range job.With {
		a.value(name, input, fmt.Sprint(value))
	}
	for variable, value := range job.Env {
		a.value(name, variable, value)
		if secretWord.MatchString(value) {
			a.find("secret", name, "%s is there for every step", variable)
		}
	}
	a.starts(name, job)
	for _, step := range job.Steps {
		a.step(name, step, job.works())
		if writes(permissions) {
			a.besideToken(name, step)
		}
	}
}

// writes says whether a job has a token that writes.
func writes(permissions map[string]any) bool {
	return slices.Contains(slices.Collect(maps.Values(permissions)), any("write"))
}

// besideToken holds what concerns a step of a job whose token writes: nothing of
// a checkout is run, none but the default branch is checked out, and nothing
// comes from a cache, which the jobs that run a program's code can write too.
func (a *auditor) besideToken(job string, step workflowStep) {
	if step.Run != "" {
		a.find("run", job, "a script beside a token that writes: %s", step.Run)
	}
	if strings.HasPrefix(step.Uses, "actions/checkout@") &&
		(step.With["ref"] != nil || step.With["repository"] != nil) {
		a.find("checkout", job, "something else than the default branch beside a token that writes")
	}
	if strings.HasPrefix(step.Uses, "actions/cache") || strings.HasPrefix(step.Uses, "actions/setup-") &&
		step.With["cache"] != false {
		a.find("cache", job, "%s beside a token that writes", step.Uses)
	}
}

// starts holds what a job needs to begin: no fork, the right comment, the right
// branch, and no second one beside it.
func (a *auditor) starts(name string, job workflowJob) {
	condition := strings.Join(strings.Fields(job.If), " ")
	depends := job.Needs != nil && strings.Contains(condition, ".outputs.") && !strings.Contains(condition,
		"github.event_name")
	events := a.workflow.events()
	has := func(event, words string) {
		if slices.Contains(events, event) && !depends && !strings.Contains(condition, words) &&
			strings.Contains(condition, "'"+event+"'") {
			a.find("condition", name, "%s without %s", event, words)
		}
	}
	if !depends && !strings.Contains(condition, "!github.event.repository.fork") && !strings.Contains(condition,
		"head.repo.full_name == github.repository") {
		a.find("fork", name, "it runs in forks")
	}
	if !strings.Contains(condition, "'issue_comment' && needs.") {
		has("issue_comment", "author_association")
	}
	has("workflow_run", "github.event.workflow_run.head_repository.full_name == github.repository")
	has("workflow_run", "startsWith(github.event.workflow_run.head_branch, 'autoloop/')")
	has("check_suite", "startsWith(github.event.check_suite.head_branch, 'autoloop/')")
	reads := job.Uses == "" && !job.works() && !slices.ContainsFunc(job.Steps,
		func(s workflowStep) bool { return s.mode() != "" && s.mode() != "schedule" })
	called := slices.Equal(events, []string{"workflow_call"})
	if !reads && !called && job.Concurrency == nil && a.workflow.Concurrency == nil {
		a.find("concurrency", name, "it has no group")
	}
}

// step holds what concerns one step. Beside a program's code only our action
// gets a secret, and never a token that writes.
func (a *auditor) step(job string, step workflowStep, beside bool) {
	if expression.MatchString(step.Run) || strings.Contains(step.Run, "${{") {
		a.find("script", job, "an expression in a script is code: %s", step.Run)
	}
	if strings.HasPrefix(step.Uses, "actions/checkout@") {
		if step.With["persist-credentials"] != false {
			a.find("checkout", job, "it leaves the token in .git")
		}
		if fmt.Sprint(step.With["fetch-depth"]) != "0" {
			a.find("checkout", job, "it does not fetch the history")
		}
	}
	for input, value := range step.With {
		a.value(job, input, fmt.Sprint(value))
		if input == "token" && beside {
			a.find("token", job, "a token of its own beside a program's code")
		}
		if (input != "token" || step.mode() == "") &&
			(secretWord.MatchString(fmt.Sprint(value)) || tokenWord.MatchString(fmt.Sprint(value))) {
			a.find("secret", job, "input %s of %s has one", input, step.Uses)
		}
	}
	for name, value := range step.Env {
		a.value(job, name, value)
		if secretWord.MatchString(value) && !step.works() {
			a.find("secret", job, "%s is in the environment of a step that needs none", name)
		}
		if strings.Contains(value, "secrets.AUTOLOOP_TOKEN") || tokenWord.MatchString(value) && step.works() {
			a.find("token", job, "%s has a token", name)
		}
	}
}

// value holds that what strangers write is in conditions alone.
func (a *auditor) value(job, name, value string) {
	allowed := []string{
		"github.event.issue.number", "github.event.pull_request.number",
		"github.event.pull_request.base.sha", "github.event.pull_request.head.sha",
	}
	for _, found := range expression.FindAllString(value, -1) {
		for _, word := range eventWord.FindAllString(found, -1) {
			if !slices.Contains(allowed, word) {
				a.find("event", job, "%s has %s, which others write", name, word)
			}
		}
	}
}
